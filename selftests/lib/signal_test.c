// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event() in signal handlers that interrupt the thread at any point.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "trace_test.h"

static trace_event_id_t in_handler, in_thread;
static int handled;
static int errno_changed;

/* Records an event with the number of the signal, so that losses are detected. */
static void handler(int signal)
{
	int number = handled;
	int saved_errno = errno;

	(void)signal;
	errno = 4711;
	posix_trace_event(in_handler, &number, sizeof(number));
	if (errno != 4711)
		errno_changed = 1;
	errno = saved_errno;
	__atomic_store_n(&handled, number + 1, __ATOMIC_RELEASE);
}

FIXTURE(signal)
{
	trace_id_t trid;
};

FIXTURE_SETUP(signal)
{
	struct sigaction action = { .sa_handler = handler };
	trace_attr_t attr;

	ASSERT_EQ(0, posix_trace_eventid_open("in the handler", &in_handler));
	ASSERT_EQ(0, posix_trace_eventid_open("in the thread", &in_thread));
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 1 << 20));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
}

FIXTURE_TEARDOWN(signal)
{
	posix_trace_shutdown(self->trid);
}

struct target {
	pthread_t thread;
	int stop;
};

static void *interrupt(void *arg)
{
	struct target *target = arg;
	int sent = 0;

	while (!__atomic_load_n(&target->stop, __ATOMIC_ACQUIRE)) {
		/* Send one signal at a time, because pending signals merge. */
		if (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) == sent) {
			pthread_kill(target->thread, SIGUSR1);
			sent++;
		}
		sched_yield();
	}
	return (void *)(long)sent;
}

/*
 * This thread records all the time, so the signals of the other thread interrupt
 * posix_trace_event().
 */
TEST_F(signal, handler_interrupts_the_recording_of_its_thread)
{
	struct target target = { .thread = pthread_self() };
	int from_thread = 0, from_handler = 0;
	struct event event;
	pthread_t thread;
	void *sent;

	ASSERT_EQ(0, pthread_create(&thread, NULL, interrupt, &target));
	for (int i = 0; i < 2000; i++)
		posix_trace_event(in_thread, &i, sizeof(i));
	__atomic_store_n(&target.stop, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, &sent));

	while (take_user(self->trid, &event) == 1) {
		if (event.info.posix_event_id == in_handler) {
			ASSERT_EQ(from_handler, event_number(&event));
			from_handler++;
		} else {
			ASSERT_EQ(in_thread, event.info.posix_event_id);
			ASSERT_EQ(from_thread, event_number(&event));
			from_thread++;
		}
	}
	EXPECT_EQ(2000, from_thread);
	EXPECT_EQ((long)sent, from_handler);
	EXPECT_LT(0, from_handler);
	EXPECT_EQ(0, errno_changed);
}

/* Signals also arrive in functions of the controller, which may hold locks. */
TEST_F(signal, handler_interrupts_the_reader)
{
	struct target target = { .thread = pthread_self() };
	struct event event;
	pthread_t thread;
	int expected = 0;
	void *sent;

	ASSERT_EQ(0, pthread_create(&thread, NULL, interrupt, &target));
	while (expected < 300) {
		ASSERT_LE(0, take_user(self->trid, &event));
		if (event.unavailable)
			continue;
		ASSERT_EQ(expected, event_number(&event));
		expected++;
	}
	__atomic_store_n(&target.stop, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, &sent));
	while (take_user(self->trid, &event) == 1) {
		ASSERT_EQ(expected, event_number(&event));
		expected++;
	}
	EXPECT_EQ((long)sent, expected);
}

/* The first event of a process attaches it to the module. Here, a signal handler records it. */
static int attach_in_handler(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk))
		return 1;
	raise(SIGUSR1);
	posix_trace_event(in_thread, NULL, 0);
	return errno_changed;
}

TEST_F(signal, handler_can_be_the_first_to_record)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, attach_in_handler, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	/* Get the ids that these names have in the child. */
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "in the handler", &in_handler));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "in the thread", &in_thread));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(in_handler, event.info.posix_event_id);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(in_thread, event.info.posix_event_id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
