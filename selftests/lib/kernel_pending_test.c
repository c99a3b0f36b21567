// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that wants to sleep while a signal is pending stays runnable. It must not be shown as
 * blocked, because nothing will wake it. Before Linux 6.16, the scheduler's event has the wrong
 * state.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "family.h"
#include "kernel_events.h"
#include "pxt_test.h"
#include "uapi.h"

/*
 * The kernel copies all of these before it checks for signals the last time, so that a signal soon
 * after the start of the call is pending when the thread wants to sleep.
 */
#define FUTEXES		FUTEX_WAITV_MAX
#define WAITS		400

static unsigned int futex;
static int calling;
static int done;

static void ignore(int sig)
{
	(void)sig;
}

/* Uses up the time slice, so that the scheduler prefers the other thread. */
static void *spin(void *unused)
{
	(void)unused;
	if (run_on(0) < 0)
		abort();
	while (!LOAD(done))
		dawdle(1000);
	return NULL;
}

static void *wait_often(void *unused)
{
	struct futex_waitv waiters[FUTEXES];
	const int count = rounds(WAITS);

	(void)unused;
	if (run_on(0) < 0)
		abort();
	for (int i = 0; i < FUTEXES; i++)
		waiters[i] = (struct futex_waitv){
			.uaddr = (uintptr_t)&futex, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG,
		};
	for (int i = 0; i < count; i++) {
		dawdle(20000);
		__atomic_store_n(&calling, 1, __ATOMIC_RELEASE);
		if (syscall(SYS_futex_waitv, waiters, FUTEXES, 0, NULL, 0) != -1 || errno != EINTR)
			abort();
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static int disturb(void *arg, const struct talk *talk)
{
	const struct sigaction action = { .sa_handler = ignore };
	pthread_t spinner, waiter;

	(void)arg;
	hear(talk);
	if (sigaction(SIGUSR1, &action, NULL) || run_on(1) < 0 ||
	    pthread_create(&spinner, NULL, spin, NULL) ||
	    pthread_create(&waiter, NULL, wait_often, NULL))
		return 1;
	for (unsigned int i = 0; !LOAD(done); i++) {
		/* Also if there is no call: an earlier signal may have come too soon for it. */
		for (int tries = 0; !LOAD(calling) && !LOAD(done) && tries < 10000; tries++)
			;
		__atomic_store_n(&calling, 0, __ATOMIC_RELEASE);
		dawdle(i % 64 * 16);
		pthread_kill(waiter, SIGUSR1);
	}
	return pthread_join(waiter, NULL) || pthread_join(spinner, NULL);
}

FIXTURE(pending)
{
	struct kernel_events events;
};

FIXTURE_SETUP(pending)
{
	self->events = (struct kernel_events){ };
}

FIXTURE_TEARDOWN(pending)
{
	kernel_events_free(&self->events);
}

TEST_F_TIMEOUT(pending, thread_with_a_signal_is_not_blocked, 120)
{
	struct child child;
	trace_id_t trid;

	ASSERT_LE(2, sysconf(_SC_NPROCESSORS_ONLN));
	ASSERT_EQ(0, child_start(&child, disturb, NULL));
	ASSERT_EQ(0, kernel_stream(child.pid, POSIXTRACE_CLASS_SCHED, POSIX_TRACE_UNTIL_FULL,
				   &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, child_wait(&child));
	ASSERT_EQ(0, kernel_events_read(&self->events, trid));
	EXPECT_LT(0, self->events.count);
	EXPECT_EQ(0, kernel_events_impossible(&self->events));
	TH_LOG("%zu switches, %zu of them blocked",
	       kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT),
	       kernel_events_blocked(&self->events));
	posix_trace_shutdown(trid);
}

TEST_HARNESS_MAIN
