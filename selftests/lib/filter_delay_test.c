// SPDX-License-Identifier: GPL-2.0
/*
 * A filter changes while a writer is delayed between reading the time and checking the gate.
 */
#define _GNU_SOURCE
#include "delay.h"

#ifdef HAVE_DELAYS
#include <pthread.h>

#include "eventset.h"
#include "pxt_test.h"
#include "trace_test.h"

#define ROUNDS		100
#define LINGER		40000ULL	/* delay in nanoseconds; longer on a slow kernel */
#define DATA		200		/* more than the fast path accepts */

static trace_event_id_t type;
static unsigned long calls;
static int stop;

static void *record_all(void *arg)
{
	char data[DATA] = { 0 };

	(void)arg;
	run_on(1);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		posix_trace_event(type, data, sizeof(data));
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELEASE);
	}
	return (void *)(unsigned long)delay_aborts[PXTU_DELAY_TIME];
}

/* Waits until the thread has recorded another event with the current filter. */
static void wait_for_call(void)
{
	unsigned long before = __atomic_load_n(&calls, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&calls, __ATOMIC_ACQUIRE) < before + 2)
		sched_yield();
}

TEST(no_event_that_passes_again_is_older_than_the_change)
{
	int filters = 0, passed = 0;
	struct event event;
	trace_attr_t attr;
	pthread_t thread;
	trace_id_t trid;
	void *aborts;

	run_on(0);
	delay_loops[PXTU_DELAY_TIME] = loops_of(LINGER * pxt_time_scale());
	ASSERT_EQ(0, posix_trace_eventid_open("sometimes", &type));
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 16 << 20));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_all, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		wait_for_call();
		ASSERT_EQ(0, filter_one(trid, type, POSIX_TRACE_ADD_EVENTSET));
		ASSERT_EQ(0, filter_one(trid, type, POSIX_TRACE_SUB_EVENTSET));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &aborts));
	ASSERT_EQ(0, posix_trace_stop(trid));

	while (take(trid, &event) == 1) {
		if (event.info.posix_event_id == POSIX_TRACE_FILTER)
			filters++;
		if (event.info.posix_event_id != type)
			continue;
		passed++;
		/* Every second change lets the type pass. */
		ASSERT_EQ(0, filters % 2)
			TH_LOG("after change %d", filters);
	}
	EXPECT_EQ(2 * ROUNDS, filters);
	EXPECT_LE(ROUNDS, passed);
	/* In many rounds, the thread must have been at that point when the filter changed. */
	EXPECT_LE(ROUNDS / 5, (unsigned long)aborts);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, posix_trace_attr_destroy(&attr));
}
#endif /* HAVE_DELAYS */

TEST_HARNESS_MAIN
