// SPDX-License-Identifier: GPL-2.0
/*
 * A writer is stopped after it has recorded an event, but before it wakes the waiting reader. The
 * event must still be reported soon.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <setjmp.h>

#include "pxt_test.h"
#include "exec.h"
#include "polling.h"
#include "reading.h"
#include "wakeups.h"

/* ------------------------------------------------------------------ */
/* The writer								*/

static const struct talk *writer_talk;
static jmp_buf before_the_event;

static void be_killed(void)
{
	kill(getpid(), SIGKILL);
}

static void execute_a_program(void)
{
	static const struct program program = { .path = HELPER, .talks = true };

	execute(&program, writer_talk);
}

/*
 * Leaves the recording of an event before the wake-up, as a signal handler may do with longjmp().
 */
static void jump_away(void)
{
	longjmp(before_the_event, 1);
}

static void record_unreported(int number)
{
	if (!setjmp(before_the_event))
		record_number(number);
}

/* A child function: records each number that it receives, and reports the number of wake-ups. */
static int write_unreported(void *arg, const struct talk *talk)
{
	int number;

	writer_talk = talk;
	record_number(0);
	say(talk, 0);
	wakeups_instead = arg;
	while ((number = hear(talk)) >= 0) {
		record_unreported(number);
		say(talk, wakeups);
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Waiting threads							*/

static int by_getnext(trace_id_t trid, int epfd)
{
	struct event event;
	int err = read_next(trid, &event, sizeof(event.data));

	(void)epfd;
	return err ? -err : event_number(&event);
}

static int by_timedgetnext(trace_id_t trid, int epfd)
{
	const struct timespec never = { INT32_MAX, 0 };
	struct event event;
	int err = read_timed(trid, &event, sizeof(event.data), &never);

	(void)epfd;
	return err ? -err : event_number(&event);
}

static int by_poll(trace_id_t trid, int epfd)
{
	struct event event;
	int ret = poll_say(posixtrace_fd(trid), -1);

	(void)epfd;
	if (ret < 0)
		return ret;
	return take(trid, &event) == 1 ? event_number(&event) : -EAGAIN;
}

/* Waits in epoll. The instance was registered earlier, so it does not check the stream again. */
static int by_epoll(trace_id_t trid, int epfd)
{
	struct event event;
	int ret = epoll_say(epfd, -1);

	if (ret < 0)
		return ret;
	return take(trid, &event) == 1 ? event_number(&event) : -EAGAIN;
}

struct waiter {
	int (*wait)(trace_id_t trid, int epfd);
	trace_id_t trid;
	int epfd;
	int tid;
	int ret;
	pthread_t thread;
};

static void *waiting(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
	waiter->ret = waiter->wait(waiter->trid, waiter->epfd);
	return NULL;
}

/* ------------------------------------------------------------------ */
/* The tests								*/

FIXTURE(lost_wakeup)
{
	trace_id_t trid;
	struct child child;
	struct waiter waiter;
};

FIXTURE_VARIANT(lost_wakeup)
{
	int (*wait)(trace_id_t trid, int epfd);
	unsigned int events;	/* events to watch with epoll */
};

FIXTURE_VARIANT_ADD(lost_wakeup, getnext) { by_getnext, EPOLLIN };
FIXTURE_VARIANT_ADD(lost_wakeup, timedgetnext) { by_timedgetnext, EPOLLIN };
FIXTURE_VARIANT_ADD(lost_wakeup, poll) { by_poll, EPOLLIN };
FIXTURE_VARIANT_ADD(lost_wakeup, epoll) { by_epoll, EPOLLIN };
FIXTURE_VARIANT_ADD(lost_wakeup, epoll_edge) { by_epoll, EPOLLIN | EPOLLET };

/* This process is also traced, so the writer is not the last traced process. */
FIXTURE_SETUP(lost_wakeup)
{
	trace_attr_t attr;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	self->waiter = (struct waiter){ .wait = variant->wait, .trid = self->trid };
}

FIXTURE_TEARDOWN(lost_wakeup)
{
	posix_trace_shutdown(self->trid);
}

static int watch_by_epoll(struct waiter *waiter, unsigned int events)
{
	int ret;

	waiter->epfd = epoll_with(posixtrace_fd(waiter->trid), events);
	if (waiter->epfd < 0)
		return waiter->epfd;
	/* Skip an edge that already existed. */
	ret = epoll_say(waiter->epfd, 0);
	return ret < 0 ? ret : 0;
}

/* Starts the writer, which calls @instead instead of WAKE, and reads its first event. */
static int writer_start(struct child *child, void (*instead)(void), struct waiter *waiter,
			unsigned int events)
{
	int err = child_start(child, write_unreported, instead);

	if (err || hear(&child->talk))
		return err ? err : -EPIPE;
	err = take_all(waiter->trid);
	if (err < 0)
		return err;
	/* When testing epoll, it must be the only waiter in the queue. */
	return waiter->wait == by_epoll ? watch_by_epoll(waiter, events) : 0;
}

/* Starts the waiting thread. Returns when it is asleep. */
static int waiter_start(struct waiter *waiter)
{
	int err;

	waiter->tid = 0;
	err = pthread_create(&waiter->thread, NULL, waiting, waiter);
	if (!err)
		falls_asleep(&waiter->tid, NULL);
	return err;
}

/* Makes the writer record. Returns the time, in nanoseconds, until the waiter had the event. */
static unsigned long long time_to_report(struct __test_metadata *_metadata,
					 struct waiter *waiter, struct child *child, int number)
{
	unsigned long long before;

	ASSERT_EQ(0, waiter_start(waiter));
	before = now();
	say(&child->talk, number);
	ASSERT_EQ(0, pthread_join(waiter->thread, NULL));
	EXPECT_EQ(number, waiter->ret);
	return now() - before;
}

TEST_F_TIMEOUT(lost_wakeup, of_a_writer_that_jumps_away_is_repaired_within_a_second, 10)
{
	const unsigned long long second = NSEC * pxt_time_scale();

	ASSERT_EQ(0, writer_start(&self->child, jump_away, &self->waiter, variant->events));
	for (int i = 1; i <= 3; i++) {
		EXPECT_GE(second, time_to_report(_metadata, &self->waiter, &self->child, i));
		/* The writer would have called WAKE for each event, but did not. */
		EXPECT_EQ(i, hear(&self->child.talk));
		ASSERT_LE(0, take_all(self->trid));
	}
	EXPECT_EQ(0, child_wait(&self->child));
}

/* A time after which the periodic check would not have found the event yet. */
#define IMMEDIATELY	(NSEC / 4 * pxt_time_scale())

TEST_F_TIMEOUT(lost_wakeup, of_a_killed_writer_is_repaired_immediately, 10)
{
	int status;

	ASSERT_EQ(0, writer_start(&self->child, be_killed, &self->waiter, variant->events));
	EXPECT_GE(IMMEDIATELY, time_to_report(_metadata, &self->waiter, &self->child, 1));
	status = child_wait(&self->child);
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}

TEST_F_TIMEOUT(lost_wakeup, of_a_writer_that_calls_exec_is_repaired_immediately, 10)
{
	ASSERT_EQ(0, writer_start(&self->child, execute_a_program, &self->waiter,
				  variant->events));
	EXPECT_GE(IMMEDIATELY, time_to_report(_metadata, &self->waiter, &self->child, 1));
	/* The new program runs, and is traced. */
	EXPECT_LT(0, hear(&self->child.talk));
	EXPECT_EQ(0, child_wait(&self->child));
}

TEST_HARNESS_MAIN
