// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventid_open(): Documentation/conformance/posix_trace_eventid_open.rst
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <linux/posixtrace.h>

#include "stream_fixtures.h"
#include "family.h"
#include "interrupt.h"
#include "name_test.h"
#include "no_door.h"
#include "trace_test.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT

TEST_F(loop, a01_events_have_the_type)
{
	trace_event_id_t id = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_eventid_open("a name", &id));
	posix_trace_event(id, NULL, 0);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	EXPECT_STREQ("a name", name_of(self->trid, event.info.posix_event_id).text);
}

/* ------------------------------------------------------------------ */
/* Identifiers of names							*/

#define THREADS	4
#define NAMES	20

struct opener {
	pthread_barrier_t *barrier;
	int number;
	trace_event_id_t common[NAMES];
	trace_event_id_t own[NAMES];
};

static void *open_many(void *arg)
{
	struct opener *opener = arg;

	run_on(opener->number);
	pthread_barrier_wait(opener->barrier);
	for (int i = 0; i < NAMES; i++) {
		opener->own[i] = open_id(numbered("own", opener->number * NAMES + i).text);
		opener->common[i] = open_id(numbered("common", i).text);
	}
	return NULL;
}

/* Lets all threads open their names at the same time. */
static int open_at_the_same_time(struct opener opener[THREADS])
{
	pthread_barrier_t barrier;
	pthread_t thread[THREADS];

	if (pthread_barrier_init(&barrier, NULL, THREADS))
		return 1;
	for (int i = 0; i < THREADS; i++) {
		opener[i].barrier = &barrier;
		opener[i].number = i;
		if (pthread_create(&thread[i], NULL, open_many, &opener[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	return 0;
}

static int same_in_all(const struct opener opener[THREADS])
{
	for (int i = 0; i < NAMES; i++) {
		trace_event_id_t id = open_id(numbered("common", i).text);

		for (int j = 0; j < THREADS; j++)
			if (!id || opener[j].common[i] != id)
				return 0;
	}
	for (int i = 0; i < THREADS * NAMES; i++)
		if (opener[i / NAMES].own[i % NAMES] != open_id(numbered("own", i).text))
			return 0;
	return 1;
}

/* Returns 1 if all identifiers differ and belong to named user types. */
static int all_different(const struct opener opener[THREADS])
{
	char seen[UNNAMED + TRACE_USER_EVENT_MAX] = "";

	for (int i = 0; i < (THREADS + 1) * NAMES; i++) {
		trace_event_id_t id = i < THREADS * NAMES ? opener[i / NAMES].own[i % NAMES] :
							    opener[0].common[i % NAMES];

		if (id <= UNNAMED || id >= sizeof(seen) || seen[id]++)
			return 0;
	}
	return 1;
}

TEST(a02_same_name_same_type)
{
	trace_event_id_t first = open_id("same");

	ASSERT_LT(UNNAMED, first);
	open_id("other");
	EXPECT_EQ(first, open_id("same"));
}

TEST(a02_threads_at_the_same_time)
{
	struct opener opener[THREADS];

	ASSERT_EQ(0, open_at_the_same_time(opener));
	EXPECT_TRUE(same_in_all(opener));
}

TEST(a03_another_name_another_type)
{
	EXPECT_NE(open_id("one"), open_id("two"));
}

TEST(a03_different_names_at_the_same_time)
{
	struct opener opener[THREADS];

	ASSERT_EQ(0, open_at_the_same_time(opener));
	EXPECT_TRUE(all_different(opener));
}

static int first_calls(void *arg, const struct talk *talk)
{
	struct opener opener[THREADS];

	(void)arg;
	(void)talk;
	if (open_at_the_same_time(opener))
		return 1;
	return !all_different(opener) + 2 * !same_in_all(opener);
}

TEST(a04_first_calls_of_threads_at_the_same_time)
{
	for (int i = 0; i < 10; i++) {
		struct child child;

		ASSERT_EQ(0, child_start(&child, first_calls, NULL));
		ASSERT_EQ(0, child_wait(&child));
	}
}

/*
 * A thread of the child is stopped while it attaches the process to the module. Another thread then
 * opens a name, although the module has no data of the process yet.
 */
struct attacher {
	const struct talk *talk;
	trace_event_id_t id;
};

static void *attach_stopped(void *arg)
{
	struct attacher *attacher = arg;

	/* Call ptrace() before the test gets the thread id: its waitpid() then finds the thread. */
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	say(attacher->talk, syscall(SYS_gettid));
	raise(SIGSTOP);
	attacher->id = open_id("of the one that attaches");
	return NULL;
}

static int open_while_attaching(void *arg, const struct talk *talk)
{
	struct attacher attacher = { .talk = talk };
	trace_event_id_t id;
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, attach_stopped, &attacher) || hear(talk))
		return 1;
	say(talk, getpid());
	id = open_id("of the other one");
	say(talk, 0);
	pthread_join(thread, NULL);
	if (!id || !attacher.id || id == attacher.id)
		return 2;
	if (id != open_id("of the other one") || attacher.id != open_id("of the one that attaches"))
		return 3;
	return 0;
}

/* Runs the thread until it is about to make the ioctl @command. */
static bool run_to_command(pid_t tid, unsigned long command)
{
	struct __ptrace_syscall_info info;
	int status;

	while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
		ptrace(PTRACE_SETOPTIONS, tid, NULL, PTRACE_O_TRACESYSGOOD);
		if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_ioctl &&
		    info.entry.args[1] == command)
			return true;
		if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL))
			break;
	}
	return false;
}

TEST(a04_first_call_while_another_thread_attaches)
{
	struct child child;
	pid_t tid, pid;

	ASSERT_EQ(0, child_start(&child, open_while_attaching, NULL));
	tid = hear(&child.talk);
	ASSERT_LT(0, tid);
	ASSERT_TRUE(run_to_command(tid, POSIXTRACE_IOC_ATTACH));
	say(&child.talk, 0);
	pid = hear(&child.talk);
	ASSERT_EQ(child.pid, pid);
	/* Wait until the other thread has finished, or sleeps until this one has attached. */
	for (;;) {
		struct pollfd through = { .fd = child.talk.in, .events = POLLIN };

		if (poll(&through, 1, 0) == 1 || is_asleep(pid))
			break;
		sched_yield();
	}
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, tid, NULL, NULL));
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* Limits								*/

TEST_F(loop, a05_longest_name)
{
	struct name name = long_name(TRACE_EVENT_NAME_MAX, 'x');
	trace_event_id_t id;

	ASSERT_LE(_POSIX_TRACE_EVENT_NAME_MAX, TRACE_EVENT_NAME_MAX);
	ASSERT_EQ(0, posix_trace_eventid_open(name.text, &id));
	EXPECT_STREQ(name.text, name_of(self->trid, id).text);
	EXPECT_EQ(id, open_id(name.text));
	EXPECT_NE(id, open_id(long_name(TRACE_EVENT_NAME_MAX, 'y').text));
	EXPECT_NE(id, open_id(long_name(TRACE_EVENT_NAME_MAX - 1, 'n').text));
}

TEST_F(loop, a06_longer_name)
{
	char longest[4096];
	trace_event_id_t id = 4711;
	int types = 0;

	EXPECT_EQ(ENAMETOOLONG,
		  posix_trace_eventid_open(long_name(TRACE_EVENT_NAME_MAX + 1, 'n').text, &id));
	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	EXPECT_EQ(ENAMETOOLONG, posix_trace_eventid_open(longest, &id));
	EXPECT_EQ(4711, id);
	while (next_id(self->trid) > 0)
		types++;
	EXPECT_EQ(PREDEFINED, types);
}

/* Defines all possible types and one more. Returns how many of them have a name. */
static int fill_table(void)
{
	int named = 0;

	for (int i = 0; i < TRACE_USER_EVENT_MAX; i++) {
		trace_event_id_t id = open_id(numbered("type", i).text);

		if (!id)
			return -1;
		named += id != UNNAMED;
	}
	return named;
}

TEST(a07_number_of_types)
{
	EXPECT_LE(_POSIX_TRACE_USER_EVENT_MAX, TRACE_USER_EVENT_MAX);
	EXPECT_EQ(TRACE_USER_EVENT_MAX - 1, fill_table());
}

TEST_F(loop, a08_further_types_are_unnamed)
{
	trace_event_id_t first = open_id("type 0"), id = 0;
	struct event event;

	ASSERT_EQ(TRACE_USER_EVENT_MAX - 1, fill_table());
	EXPECT_EQ(0, posix_trace_eventid_open("one more", &id));
	EXPECT_EQ(UNNAMED, id);
	EXPECT_EQ(0, posix_trace_eventid_open("and one more", &id));
	EXPECT_EQ(UNNAMED, id);
	EXPECT_EQ(first, open_id("type 0"));
	posix_trace_event(id, "x", 1);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(UNNAMED, event.info.posix_event_id);
	EXPECT_EQ(1, event.len);
}

struct filler {
	trace_id_t trid;	/* 0 for the traced process itself */
	int number;
	int named;
};

/* Opens names that no other thread uses, until no type is left. */
static void *fill_with_own(void *arg)
{
	struct filler *filler = arg;
	trace_event_id_t id = 0;

	while (id != UNNAMED) {
		struct name name = numbered("own", 10 * filler->named + filler->number);

		id = filler->trid ? open_trid_id(filler->trid, name.text) : open_id(name.text);
		if (!id)
			return arg;
		filler->named += id != UNNAMED;
	}
	return NULL;
}

TEST_F(loop, a09_several_threads_reach_the_limit)
{
	struct filler filler[3] = { { .number = 1 }, { .number = 2 }, { self->trid, 3, 0 } };
	pthread_t thread[3];
	int named = 0;

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, fill_with_own, &filler[i]));
	for (int i = 0; i < 3; i++) {
		void *result;

		ASSERT_EQ(0, pthread_join(thread[i], &result));
		EXPECT_EQ(NULL, result);
		named += filler[i].named;
	}
	EXPECT_EQ(TRACE_USER_EVENT_MAX - 1, named);
}

/* ------------------------------------------------------------------ */
/* Streams								*/

TEST(a10_names_are_kept_for_a_stream)
{
	trace_event_id_t id = open_id("before any stream"), next;
	struct event event;
	trace_id_t trid;

	ASSERT_LT(UNNAMED, id);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
		EXPECT_STREQ("before any stream", name_of(trid, id).text);
		EXPECT_EQ(id, open_trid_id(trid, "before any stream"));
		ASSERT_EQ(0, posix_trace_start(trid));
		posix_trace_event(id, NULL, 0);
		ASSERT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(id, event.info.posix_event_id);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
		/* The types are kept between the streams. */
		EXPECT_EQ(id, open_id("before any stream"));
		next = open_id(numbered("between", i).text);
		EXPECT_NE(id, next);
	}
}

static int open_and_idle(void *arg, const struct talk *talk)
{
	(void)arg;
	say(talk, open_id("of the child"));
	hear(talk);
	posix_trace_event(open_id("of the child"), NULL, 0);
	return 0;
}

TEST(a10_names_are_kept_for_a_stream_of_another_process)
{
	struct child child;
	struct event event;
	trace_id_t trid;
	long id;

	ASSERT_EQ(0, child_start(&child, open_and_idle, NULL));
	id = hear(&child.talk);
	ASSERT_LT(UNNAMED, id);
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	EXPECT_STREQ("of the child", name_of(trid, id).text);
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(loop, a11_all_streams_have_the_same_types)
{
	trace_event_id_t id;
	struct event event;
	trace_id_t other;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &other));
	id = open_id("in both");
	EXPECT_STREQ("in both", name_of(self->trid, id).text);
	EXPECT_STREQ("in both", name_of(other, id).text);
	posix_trace_event(id, NULL, 0);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	ASSERT_EQ(1, take_user(other, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

enum generation {
	PARENT,
	CHILD,
	GRANDCHILD,
	GENERATIONS,
};

/* The identifiers that each process has opened, in shared memory. Names are opened newest first. */
struct opened {
	trace_event_id_t ids[GENERATIONS][GENERATIONS];
};

static void open_all(struct opened *opened, enum generation generation)
{
	for (int i = GENERATIONS - 1; i >= 0; i--)
		opened->ids[generation][i] = open_id(numbered("of generation", i).text);
}

static int open_in_grandchild(void *arg)
{
	open_all(arg, GRANDCHILD);
	return 0;
}

static int open_in_child(void *arg)
{
	struct opened *opened = arg;

	open_id(numbered("of generation", CHILD).text);
	if (ended(by_fork(open_in_grandchild, opened)))
		return 1;
	open_all(opened, CHILD);
	return 0;
}

TEST(a12_all_traced_processes_have_the_same_types)
{
	struct opened *opened = share(sizeof(*opened));
	trace_id_t trid;

	ASSERT_NE(NULL, opened);
	ASSERT_EQ(0, start_family_stream(0, &trid));
	open_id(numbered("of generation", PARENT).text);
	ASSERT_EQ(0, ended(by_fork(open_in_child, opened)));
	open_all(opened, PARENT);
	for (int i = 0; i < GENERATIONS; i++) {
		EXPECT_LT(UNNAMED, opened->ids[PARENT][i]);
		EXPECT_EQ(opened->ids[PARENT][i], opened->ids[CHILD][i]);
		EXPECT_EQ(opened->ids[PARENT][i], opened->ids[GRANDCHILD][i]);
		EXPECT_STREQ(numbered("of generation", i).text,
			     name_of(trid, opened->ids[PARENT][i]).text);
		for (int j = 0; j < i; j++)
			EXPECT_NE(opened->ids[PARENT][i], opened->ids[PARENT][j]);
	}
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* Names and results							*/

TEST(a13_result)
{
	trace_event_id_t id = 0, failed = 4711;

	EXPECT_EQ(0, posix_trace_eventid_open("result", &id));
	EXPECT_LT(UNNAMED, id);
	EXPECT_EQ(EINVAL, posix_trace_eventid_open("", &failed));
	EXPECT_EQ(4711, failed);
}

TEST(a14_predefined_names)
{
	EXPECT_EQ(POSIX_TRACE_START, open_id("posix_trace_start"));
	EXPECT_EQ(POSIX_TRACE_FILTER, open_id("posix_trace_filter"));
	EXPECT_EQ(UNNAMED, open_id("posix_trace_unnamed_userevent"));
	/* Longer and shorter names are different types. */
	EXPECT_LT(UNNAMED, open_id("posix_trace_starts"));
	EXPECT_LT(UNNAMED, open_id("posix_trace_star"));
}

TEST_F(loop, a15_all_bytes_are_characters)
{
	static const char * const names[] = {
		"case", "Case", " case", "case ", "ca\nse", "\xff\x80", "\x01", "\xc3\xa9t\xc3\xa9",
	};
	trace_event_id_t ids[ARRAY_SIZE(names)];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ASSERT_EQ(0, posix_trace_eventid_open(names[i], &ids[i]));
		EXPECT_STREQ(names[i], name_of(self->trid, ids[i]).text);
		for (size_t j = 0; j < i; j++)
			EXPECT_NE(ids[j], ids[i]);
	}
}

TEST(a16_empty_name_and_null_pointers)
{
	trace_event_id_t id = 4711;

	EXPECT_EQ(EINVAL, posix_trace_eventid_open("", &id));
	EXPECT_EQ(EINVAL, posix_trace_eventid_open(NULL, &id));
	EXPECT_EQ(EINVAL, posix_trace_eventid_open("x", NULL));
	EXPECT_EQ(EINVAL, posix_trace_eventid_open(NULL, NULL));
	EXPECT_EQ(4711, id);
}

/* ------------------------------------------------------------------ */
/* Signals, cancellation, errno						*/

static int in_handler;

static void record_in_handler(void)
{
	posix_trace_event(UNNAMED, &in_handler, sizeof(in_handler));
	in_handler++;
}

TEST_F(loop, a17_signals)
{
	trace_event_id_t id = 0, last = UNNAMED;
	int taken = 0, opened = 0;
	struct event event;

	ASSERT_EQ(0, interrupts_begin(record_in_handler));
	while (interrupts.hits < 30) {
		struct name name = numbered("type", opened++ / 2);
		int err;

		interrupts_before();
		err = posix_trace_eventid_open(name.text, &id);
		interrupts_after();
		ASSERT_EQ(0, err);
		/* Each name is opened twice, so every second identifier is new. */
		ASSERT_EQ(opened < 2 * TRACE_USER_EVENT_MAX - 1 ? last + opened % 2 : UNNAMED, id);
		last = id;
		while (take_user(self->trid, &event) == 1)
			ASSERT_EQ(taken++, event_number(&event));
	}
	interrupts_end();
	while (take_user(self->trid, &event) == 1)
		ASSERT_EQ(taken++, event_number(&event));
	EXPECT_EQ(in_handler, taken);
}

static void *open_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(trace_event_id_t *)arg = open_id("cancelled");
	return NULL;
}

static int open_cancelled_first(void *arg, const struct talk *talk)
{
	trace_event_id_t id = 0;
	pthread_t thread;

	(void)arg;
	(void)talk;
	if (pthread_create(&thread, NULL, open_cancelled, &id) || pthread_join(thread, NULL))
		return 1;
	return id > UNNAMED ? 0 : 2;
}

TEST(a18_no_cancellation_point)
{
	struct child child;

	ASSERT_LT(UNNAMED, open_id("attached"));
	EXPECT_EQ(0, open_cancelled_first(NULL, NULL));
	/* In a child, the cancelled call is the first one. */
	ASSERT_EQ(0, child_start(&child, open_cancelled_first, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

static int open_errno(void *arg, const struct talk *talk)
{
	trace_event_id_t id;

	(void)arg;
	(void)talk;
	errno = 4711;
	if (posix_trace_eventid_open("errno", &id) || errno != 4711)
		return 1;
	return posix_trace_eventid_open("", &id) != EINVAL || errno != 4711;
}

TEST(a19_errno_is_kept)
{
	struct child child;

	ASSERT_LT(UNNAMED, open_id("attached"));
	EXPECT_EQ(0, open_errno(NULL, NULL));
	ASSERT_EQ(0, child_start(&child, open_errno, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
