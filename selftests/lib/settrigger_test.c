// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_settrigger() and posixtrace_get_triggered(). kmod/trigger_test checks the conditions
 * themselves.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <posixtrace.h>
#include <posixtrace/points.h>

#include "pxt_test.h"
#include "kernel_events.h"
#include "process.h"
#include "withlog.h"

FIXTURE(triggers)
{
	struct child child;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(triggers)
{
	self->fd = log_tmpfile();
	ASSERT_EQ(0, child_start(&self->child, child_idle, NULL));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, kernel_withlog(self->child.pid, POSIXTRACE_CLASS_SCHED, 1 << 20,
				    POSIX_TRACE_APPEND, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(triggers)
{
	posix_trace_shutdown(self->trid);
	child_kill(&self->child);
	close(self->fd);
}

static int poll_priority(trace_id_t trid, int timeout)
{
	struct pollfd fd = { .fd = posixtrace_fd(trid), .events = POLLPRI };

	return poll(&fd, 1, timeout) < 0 ? -errno : fd.revents;
}

/*
 * Wakes the child, and wakes it again after two milliseconds, which it has slept unless it was
 * preempted on the way to sleep: stat tells no difference.
 */
static void let_wait(const struct child *child)
{
	say(&child->talk, 0);
	while (!is_asleep(child->pid))
		sched_yield();
	usleep(2000);
	say(&child->talk, 0);
}

static void wait_until_met(const struct child *child, trace_id_t trid)
{
	do {
		let_wait(child);
	} while (poll_priority(trid, 100) == 0);
}

TEST_F(triggers, condition_is_reported_once)
{
	static const struct posixtrace_trigger_info none;
	struct posixtrace_trigger_info info;
	unsigned long long before = now(), time;

	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 1000000, 0, NULL, 0));
	EXPECT_EQ(0, poll_priority(self->trid, 0));
	wait_until_met(&self->child, self->trid);
	EXPECT_EQ(POLLPRI, poll_priority(self->trid, -1));
	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 0, 0, NULL, 0));
	EXPECT_EQ(0, poll_priority(self->trid, 0));

	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 1000000, 0, NULL, 0));
	wait_until_met(&self->child, self->trid);
	EXPECT_EQ(POLLPRI, poll_priority(self->trid, -1));
	ASSERT_EQ(0, posixtrace_get_triggered(self->trid, &info));
	time = info.time.tv_sec * NSEC + info.time.tv_nsec;
	EXPECT_LE(1, info.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_BLOCKED, info.kind);
	EXPECT_EQ(self->child.pid, info.pid);
	EXPECT_EQ(self->child.pid, info.tid);
	EXPECT_LT(1000000, info.duration);
	EXPECT_TRUE(before < time && time <= now());
	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 0, 0, NULL, 0));
	ASSERT_EQ(0, posixtrace_get_triggered(self->trid, &info));
	EXPECT_EQ(0, memcmp(&none, &info, sizeof(info)));
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Longer than a few instructions take on a busy machine. */
#define LONG	(1 * NSEC)
#define NEVER	(3600 * NSEC)

/* Types that a child opens when it first records them. */
static void record_named(const char *name)
{
	trace_event_id_t id;

	if (!posix_trace_eventid_open(name, &id))
		posix_trace_event(id, NULL, 0);
}

static void wait_for(unsigned long long ns)
{
	unsigned long long end = now() + ns;

	while (now() < end)
		;
}

static void *end_work(void *arg)
{
	(void)arg;
	record_named("work:end");
	return NULL;
}

/* What children do, one step after the other. The controller says which. */
static int record_steps(void *arg, const struct talk *talk)
{
	pthread_t thread;
	int what;

	(void)arg;
	say(talk, 0);
	while ((what = hear(talk)) >= 0) {
		switch (what) {
		case 'e':
			record_named("other");
			break;
		case 'b':
			record_named("work:begin");
			break;
		case 'E':
			record_named("work:end");
			break;
		case '_':
			record_named("work_begin");
			wait_for(2000000);
			record_named("work_end");
			break;
		case 's': {
			POSIXTRACE_SCOPE("work");

			wait_for(2000000);
			break;
		}
		case 't':
			if (!pthread_create(&thread, NULL, end_work, NULL))
				pthread_join(thread, NULL);
			break;
		case 'm':
			for (int i = 0; i < 100000; i++)
				record_named("other");
			break;
		case 'f':
			if (!fork()) {
				record_named("work:end");
				record_named("work:begin");
				wait_for(2000000);
				record_named("work:end");
				_exit(0);
			}
			wait(NULL);
			break;
		case 'w':
			wait_for(2000000);
			break;
		case 'W':
			wait_for(LONG);
			break;
		}
		say(talk, 0);
	}
	return 0;
}

FIXTURE(events)
{
	struct child child;
	trace_attr_t attr;
	trace_id_t trid;
};

FIXTURE_SETUP(events)
{
	ASSERT_EQ(0, child_start(&self->child, record_steps, NULL));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_setinherited(&self->attr, POSIX_TRACE_INHERITED));
	ASSERT_EQ(0, posix_trace_create(self->child.pid, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(events)
{
	posix_trace_shutdown(self->trid);
	posix_trace_attr_destroy(&self->attr);
	child_kill(&self->child);
}

static void let(const struct child *child, const char *steps)
{
	for (; *steps; steps++) {
		say(&child->talk, *steps);
		hear(&child->talk);
	}
}

static int choose(trace_id_t trid, const char *name, uint64_t threshold)
{
	const struct posixtrace_event_trigger event = { name, threshold };

	return posixtrace_settrigger(trid, 0, 0, &event, 1);
}

static struct posixtrace_trigger_info take_met(trace_id_t trid)
{
	struct posixtrace_trigger_info info = { .kind = ~0U };

	posixtrace_get_triggered(trid, &info);
	return info;
}

TEST_F(events, event_of_a_type_that_appears_later_meets_the_condition)
{
	struct posixtrace_trigger_info info;
	unsigned long long before = now(), time;

	ASSERT_EQ(0, choose(self->trid, "other", 0));
	let(&self->child, "bE");
	EXPECT_EQ(0, poll_priority(self->trid, 0));
	let(&self->child, "e");
	EXPECT_EQ(POLLPRI, poll_priority(self->trid, 0));
	info = take_met(self->trid);
	time = info.time.tv_sec * NSEC + info.time.tv_nsec;
	EXPECT_EQ(1, info.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_EVENT, info.kind);
	EXPECT_EQ(0, info.duration);
	EXPECT_EQ(0, info.index);
	EXPECT_EQ(self->child.pid, info.pid);
	EXPECT_EQ(self->child.pid, info.tid);
	EXPECT_TRUE(before < time && time <= now());
	EXPECT_EQ(0, take_met(self->trid).count);
}

TEST_F(events, scope_that_takes_longer_meets_the_condition)
{
	struct posixtrace_trigger_info info;

	ASSERT_EQ(0, choose(self->trid, "work", 1000000));
	let(&self->child, "s");
	info = take_met(self->trid);
	EXPECT_EQ(1, info.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_SCOPE, info.kind);
	EXPECT_LE(2000000, info.duration);
	let(&self->child, "_");
	EXPECT_EQ(1, take_met(self->trid).count);
	ASSERT_EQ(0, choose(self->trid, "work", LONG));
	let(&self->child, "bE");
	EXPECT_EQ(0, take_met(self->trid).count);
	ASSERT_EQ(0, choose(self->trid, "work", NEVER));
	let(&self->child, "s");
	EXPECT_EQ(0, take_met(self->trid).count);
}

TEST_F(events, inner_scope_ends_before_the_outer_one)
{
	ASSERT_EQ(0, choose(self->trid, "work", LONG));
	let(&self->child, "bWbE");
	EXPECT_EQ(0, take_met(self->trid).count);
	let(&self->child, "E");
	EXPECT_EQ(1, take_met(self->trid).count);
}

TEST_F(events, end_without_a_begin_meets_no_condition)
{
	ASSERT_EQ(0, choose(self->trid, "work", 1000000));
	let(&self->child, "E");
	EXPECT_EQ(0, take_met(self->trid).count);
	let(&self->child, "bwEE");
	EXPECT_EQ(1, take_met(self->trid).count);
}

TEST_F(events, oldest_of_more_than_16_open_scopes_is_forgotten)
{
	ASSERT_EQ(0, choose(self->trid, "work", 1000000));
	let(&self->child, "bbbbbbbbbbbbbbbbbw");
	for (int i = 0; i < 16; i++) {
		let(&self->child, "E");
		ASSERT_EQ(1, take_met(self->trid).count);
	}
	let(&self->child, "E");
	EXPECT_EQ(0, take_met(self->trid).count);
	let(&self->child, "bwE");
	EXPECT_EQ(1, take_met(self->trid).count);
}

TEST_F(events, scope_that_ends_in_another_thread_meets_no_condition)
{
	ASSERT_EQ(0, choose(self->trid, "work", 1000000));
	let(&self->child, "bwt");
	EXPECT_EQ(0, take_met(self->trid).count);
	let(&self->child, "E");
	EXPECT_EQ(1, take_met(self->trid).count);
}

TEST_F(events, scope_that_was_open_before_the_condition_does_not_meet_it)
{
	let(&self->child, "bw");
	ASSERT_EQ(0, choose(self->trid, "work", 1000000));
	let(&self->child, "E");
	EXPECT_EQ(0, take_met(self->trid).count);
	let(&self->child, "bw");
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	let(&self->child, "E");
	EXPECT_EQ(0, take_met(self->trid).count);
	let(&self->child, "bwE");
	EXPECT_EQ(1, take_met(self->trid).count);
}

TEST_F(events, child_meets_conditions_with_its_own_scopes_only)
{
	struct posixtrace_trigger_info info;

	ASSERT_EQ(0, choose(self->trid, "work", 1000000));
	let(&self->child, "bwf");
	info = take_met(self->trid);
	EXPECT_EQ(1, info.count);
	EXPECT_NE(self->child.pid, info.pid);
	let(&self->child, "E");
	EXPECT_EQ(self->child.pid, take_met(self->trid).pid);
}

TEST_F(events, filtered_event_meets_no_condition)
{
	trace_event_set_t set;

	ASSERT_EQ(0, choose(self->trid, "other", 0));
	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	let(&self->child, "e");
	EXPECT_EQ(0, take_met(self->trid).count);
	posix_trace_eventset_empty(&set);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	let(&self->child, "e");
	EXPECT_EQ(1, take_met(self->trid).count);
}

/* The process need not tell of each one at once, but none after TRIGGERED is late. */
TEST_F(events, many_events_wake_once_and_each_first_one_is_told)
{
	ASSERT_EQ(0, choose(self->trid, "other", 0));
	let(&self->child, "m");
	EXPECT_LE(1, take_met(self->trid).count);
	for (int i = 0; i < 100; i++) {
		let(&self->child, "e");
		ASSERT_LE(1, take_met(self->trid).count);
	}
}

TEST_F(events, too_many_and_wrong_conditions_are_refused)
{
	char name[TRACE_EVENT_NAME_MAX + 2];
	struct posixtrace_event_trigger events[9];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	EXPECT_EQ(EINVAL, choose(self->trid, name, 0));
	name[sizeof(name) - 2] = '\0';
	EXPECT_EQ(0, choose(self->trid, name, 0));
	EXPECT_EQ(EINVAL, choose(self->trid, name, 1));
	EXPECT_EQ(EINVAL, choose(self->trid, "", 0));
	EXPECT_EQ(EINVAL, choose(self->trid, NULL, 0));
	for (int i = 0; i < 9; i++)
		events[i] = (struct posixtrace_event_trigger){ "other", 0 };
	EXPECT_EQ(EINVAL, posixtrace_settrigger(self->trid, 0, 0, events, 9));
	EXPECT_EQ(EINVAL, posixtrace_settrigger(self->trid, 0, 0, NULL, 1));
	EXPECT_EQ(0, posixtrace_settrigger(self->trid, 0, 0, events, 8));
	events[7].threshold = 1;
	EXPECT_EQ(EINVAL, posixtrace_settrigger(self->trid, 0, 0, events, 8));
}

TEST_F(triggers, errors)
{
	struct posixtrace_trigger_info info;
	trace_id_t plain;

	EXPECT_EQ(EINVAL, posixtrace_settrigger(self->trid + 1, 1, 1, NULL, 0));
	EXPECT_EQ(EINVAL, posixtrace_get_triggered(self->trid + 1, &info));
	EXPECT_EQ(EINVAL, posixtrace_get_triggered(self->trid, NULL));
	ASSERT_EQ(0, posix_trace_create(0, NULL, &plain));
	EXPECT_EQ(ENOTSUP, posixtrace_settrigger(plain, 1, 1, NULL, 0));
	EXPECT_EQ(0, posixtrace_get_triggered(plain, &info));
	posix_trace_shutdown(plain);
}

TEST_HARNESS_MAIN
