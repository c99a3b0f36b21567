// SPDX-License-Identifier: GPL-2.0
/*
 * Processes added to a stream: several independent processes of one user are traced into one
 * stream, with the same types for the same names.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "pxt_test.h"
#include "credentials.h"
#include "family.h"

#define NAME	"on demand"
#define USER	65534
#define OPEN	(-1L)	/* open the name, and answer with its type */

/* The traced process: opens the name on request, and records each other number. */
static int record_on_demand(void *arg, const struct talk *talk)
{
	trace_event_id_t id = POSIX_TRACE_UNNAMED_USEREVENT;
	long number;

	(void)arg;
	say(talk, 0);
	while ((number = hear(talk)) != -EPIPE) {
		if (number == OPEN) {
			if (posix_trace_eventid_open(NAME, &id))
				return 1;
			say(talk, id);
			continue;
		}
		record_as(id, (int)number);
		say(talk, number);
	}
	return 0;
}

static int start(struct child *child)
{
	int err = child_start(child, record_on_demand, NULL);

	return err ? err : (int)hear(&child->talk);
}

static long ask(const struct child *child, long number)
{
	say(&child->talk, number);
	return hear(&child->talk);
}

/*
 * Kills the process. It would not end if its pipe was closed, because later children have copies of
 * this end.
 */
static int end(const struct child *child)
{
	return kill(child->pid, SIGKILL) ? -errno : ended(child->pid);
}

/* A traced process, and another one that can be added. */
FIXTURE(add)
{
	struct child first;
	struct child second;
	trace_id_t trid;
};

FIXTURE_SETUP(add)
{
	ASSERT_EQ(0, start(&self->first));
	ASSERT_EQ(0, start(&self->second));
	ASSERT_EQ(0, start_family_stream(self->first.pid, &self->trid));
}

FIXTURE_TEARDOWN(add)
{
	posix_trace_shutdown(self->trid);
}

static void expect_event(struct __test_metadata *_metadata, trace_id_t trid, pid_t pid, int number,
			 trace_event_id_t id)
{
	struct event event;

	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(pid, event.info.posix_pid);
	EXPECT_EQ(number, event_number(&event));
	EXPECT_EQ(id, event.info.posix_event_id);
}

TEST_F(add, events_of_both_processes_arrive_in_one_order)
{
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(2, processes_of(self->trid));
	for (int i = 0; i < 20; i++) {
		const struct child *child = i % 2 ? &self->second : &self->first;

		ASSERT_EQ(i, ask(child, i));
		expect_event(_metadata, self->trid, child->pid, i, POSIX_TRACE_UNNAMED_USEREVENT);
	}
	EXPECT_EQ(20, generated_for(self->trid));
}

TEST_F(add, names_have_the_same_type_in_both_processes)
{
	long id = ask(&self->first, OPEN);

	ASSERT_LT(POSIX_TRACE_UNNAMED_USEREVENT, id);
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(id, ask(&self->second, OPEN));
	ASSERT_EQ(1, ask(&self->second, 1));
	expect_event(_metadata, self->trid, self->second.pid, 1, (trace_event_id_t)id);
	ASSERT_EQ(2, ask(&self->first, 2));
	expect_event(_metadata, self->trid, self->first.pid, 2, (trace_event_id_t)id);
}

TEST_F(add, events_before_the_call_are_not_recorded)
{
	ASSERT_EQ(1, ask(&self->second, 1));
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	ASSERT_EQ(2, ask(&self->second, 2));
	expect_event(_metadata, self->trid, self->second.pid, 2, POSIX_TRACE_UNNAMED_USEREVENT);
}

TEST_F(add, filter_of_the_stream_applies)
{
	trace_event_set_t set;
	struct event event;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	ASSERT_EQ(1, ask(&self->second, 1));
	EXPECT_EQ(0, take_user(self->trid, &event));
}

TEST_F(add, stream_stays_alive_until_the_last_process_ends)
{
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(-SIGKILL, end(&self->first));
	EXPECT_EQ(1, processes_of(self->trid));
	ASSERT_EQ(1, ask(&self->second, 1));
	expect_event(_metadata, self->trid, self->second.pid, 1, POSIX_TRACE_UNNAMED_USEREVENT);
	EXPECT_EQ(-SIGKILL, end(&self->second));
	EXPECT_EQ(0, processes_of(self->trid));
}

/*
 * The process is still a target after its first stream, but no process shares its table of types.
 */
TEST_F(add, process_that_was_traced_alone_can_be_added)
{
	trace_id_t alone;

	ASSERT_EQ(0, start_family_stream(self->second.pid, &alone));
	EXPECT_EQ(EXDEV, posixtrace_add_process(self->trid, self->second.pid));
	ASSERT_EQ(0, posix_trace_shutdown(alone));
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(ask(&self->first, OPEN), ask(&self->second, OPEN));
	ASSERT_EQ(1, ask(&self->second, 1));
	expect_event(_metadata, self->trid, self->second.pid, 1,
		     (trace_event_id_t)ask(&self->first, OPEN));
}

TEST_F(add, two_streams_on_the_added_process_get_its_events)
{
	trace_id_t other, third;

	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	ASSERT_EQ(0, start_family_stream(self->second.pid, &other));
	ASSERT_EQ(1, ask(&self->second, 1));
	expect_event(_metadata, self->trid, self->second.pid, 1, POSIX_TRACE_UNNAMED_USEREVENT);
	expect_event(_metadata, other, self->second.pid, 1, POSIX_TRACE_UNNAMED_USEREVENT);
	/*
	 * The third stream takes the slot of the first process that the other stream will need
	 * there.
	 */
	ASSERT_EQ(0, start_family_stream(self->first.pid, &third));
	EXPECT_EQ(EBUSY, posixtrace_add_process(other, self->first.pid));
	ASSERT_EQ(0, posix_trace_shutdown(third));
	ASSERT_EQ(0, posixtrace_add_process(other, self->first.pid));
	ASSERT_EQ(2, ask(&self->first, 2));
	expect_event(_metadata, other, self->first.pid, 2, POSIX_TRACE_UNNAMED_USEREVENT);
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

/* ------------------------------------------------------------------ */
/* What is refused							*/

TEST_F(add, process_with_names_is_refused)
{
	ASSERT_LT(POSIX_TRACE_UNNAMED_USEREVENT, ask(&self->second, OPEN));
	EXPECT_EQ(EXDEV, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(1, processes_of(self->trid));
}

TEST_F(add, process_is_added_once)
{
	EXPECT_EQ(EALREADY, posixtrace_add_process(self->trid, self->first.pid));
	ASSERT_EQ(0, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(EALREADY, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(2, processes_of(self->trid));
}

TEST_F(add, what_is_no_process_is_refused)
{
	const pid_t gone = self->second.pid;

	ASSERT_EQ(-SIGKILL, end(&self->second));
	EXPECT_EQ(ESRCH, posixtrace_add_process(self->trid, gone));
	EXPECT_EQ(EINVAL, posixtrace_add_process(self->trid, 0));
	EXPECT_EQ(EINVAL, posixtrace_add_process(self->trid, -1));
	EXPECT_EQ(EINVAL, posixtrace_add_process(-1, getpid()));
	/* A kernel thread: kthreadd. */
	EXPECT_EQ(EPERM, posixtrace_add_process(self->trid, 2));
}

TEST_F(add, stream_without_a_process_left_takes_none)
{
	ASSERT_EQ(-SIGKILL, end(&self->first));
	EXPECT_EQ(ENOTCONN, posixtrace_add_process(self->trid, self->second.pid));
	EXPECT_EQ(0, processes_of(self->trid));
}

static int become_and_record(void *arg, const struct talk *talk)
{
	return become_user(USER) ? 1 : record_on_demand(arg, talk);
}

TEST_F(add, process_of_another_user_is_refused)
{
	struct child other;

	ASSERT_EQ(0, child_start(&other, become_and_record, NULL));
	ASSERT_EQ(0, hear(&other.talk));
	EXPECT_EQ(EXDEV, posixtrace_add_process(self->trid, other.pid));
	EXPECT_EQ(1, processes_of(self->trid));
	EXPECT_EQ(0, child_wait(&other));
}

/* Traces itself as an ordinary user, and tries to add the process that the test names. */
static int add_as_user(void *arg, const struct talk *talk)
{
	trace_id_t trid;

	(void)arg;
	if (become_user(USER) || start_family_stream(0, &trid))
		return 1;
	say(talk, posixtrace_add_process(trid, (pid_t)hear(talk)));
	return 0;
}

TEST_F(add, rights_are_those_of_create)
{
	struct child user;

	ASSERT_EQ(0, child_start(&user, add_as_user, NULL));
	EXPECT_EQ(EPERM, ask(&user, self->second.pid));
	EXPECT_EQ(0, child_wait(&user));
}

/* ------------------------------------------------------------------ */
/* Children								*/

struct forking {
	struct line line;
	int stop;
	int born;
};

static int record_once(void *arg)
{
	(void)arg;
	record_plain(1);
	return 0;
}

/* Forks children one after the other until the test stops it. Each records one event. */
static int fork_on(void *arg, const struct talk *talk)
{
	struct forking *forking = arg;
	int failed = 0;

	say(talk, 0);
	while (!__atomic_load_n(&forking->stop, __ATOMIC_ACQUIRE)) {
		failed += ended(by_fork(record_once, NULL)) != 0;
		__atomic_add_fetch(&forking->born, 1, __ATOMIC_RELEASE);
	}
	return failed;
}

/* From the moment when the call returns, each child is traced before its first instruction. */
TEST_F(add, children_of_a_process_that_forks_all_the_time_are_traced)
{
	struct forking *forking = share(sizeof(*forking));
	struct child child;
	int before, events = 0, born;
	struct event event;

	ASSERT_EQ(0, child_start(&child, fork_on, forking));
	ASSERT_EQ(0, hear(&child.talk));
	while (__atomic_load_n(&forking->born, __ATOMIC_ACQUIRE) < 5)
		sched_yield();
	ASSERT_EQ(0, posixtrace_add_process(self->trid, child.pid));
	before = __atomic_load_n(&forking->born, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&forking->born, __ATOMIC_ACQUIRE) < before + rounds(50))
		sched_yield();
	__atomic_store_n(&forking->stop, 1, __ATOMIC_RELEASE);
	EXPECT_EQ(0, child_wait(&child));
	born = __atomic_load_n(&forking->born, __ATOMIC_ACQUIRE);
	while (take_user(self->trid, &event) == 1) {
		EXPECT_NE(child.pid, event.info.posix_pid);
		events++;
	}
	/*
	 * A child that was alive at the call or was born during it may have no event in the stream.
	 */
	EXPECT_LE(born - before - 1, events);
	EXPECT_GE(born, events);
	EXPECT_EQ(1, processes_of(self->trid));
}

TEST_HARNESS_MAIN
