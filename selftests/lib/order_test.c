// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_attr_setorder(): the attribute, and what a stream with relaxed order still guarantees.
 * sequence_test shows that relaxed order skips the fence. write_test has a storm with it.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>
#include <sched.h>

#include "pxt_test.h"
#include "log_reading.h"
#include "process.h"
#include "trace_test.h"

#define EVENTS	20000

FIXTURE(order)
{
	trace_attr_t attr;
	trace_id_t trid;
};

FIXTURE_SETUP(order)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

FIXTURE_TEARDOWN(order)
{
	posix_trace_attr_destroy(&self->attr);
}

TEST_F(order, default_is_causal)
{
	int order = -1;

	ASSERT_EQ(0, posixtrace_attr_getorder(&self->attr, &order));
	EXPECT_EQ(POSIXTRACE_ORDER_CAUSAL, order);
	ASSERT_EQ(0, posixtrace_attr_setorder(&self->attr, POSIXTRACE_ORDER_RELAXED));
	ASSERT_EQ(0, posixtrace_attr_getorder(&self->attr, &order));
	EXPECT_EQ(POSIXTRACE_ORDER_RELAXED, order);
	ASSERT_EQ(0, posixtrace_attr_setorder(&self->attr, POSIXTRACE_ORDER_CAUSAL));
	ASSERT_EQ(0, posixtrace_attr_getorder(&self->attr, &order));
	EXPECT_EQ(POSIXTRACE_ORDER_CAUSAL, order);
}

TEST_F(order, other_values_and_objects_are_refused)
{
	int order = POSIXTRACE_ORDER_CAUSAL;

	ASSERT_EQ(0, posixtrace_attr_setorder(&self->attr, POSIXTRACE_ORDER_RELAXED));
	EXPECT_EQ(EINVAL, posixtrace_attr_setorder(&self->attr, 2));
	EXPECT_EQ(EINVAL, posixtrace_attr_setorder(&self->attr, -1));
	EXPECT_EQ(EINVAL, posixtrace_attr_setorder(NULL, POSIXTRACE_ORDER_RELAXED));
	EXPECT_EQ(EINVAL, posixtrace_attr_getorder(NULL, &order));
	EXPECT_EQ(EINVAL, posixtrace_attr_getorder(&self->attr, NULL));
	ASSERT_EQ(0, posixtrace_attr_getorder(&self->attr, &order));
	EXPECT_EQ(POSIXTRACE_ORDER_RELAXED, order);
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posixtrace_attr_setorder(&self->attr, POSIXTRACE_ORDER_RELAXED));
	EXPECT_EQ(EINVAL, posixtrace_attr_getorder(&self->attr, &order));
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

TEST_F(order, stream_has_the_order_of_its_attributes)
{
	trace_attr_t attr;
	int order = -1;

	ASSERT_EQ(0, posixtrace_attr_setorder(&self->attr, POSIXTRACE_ORDER_RELAXED));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posixtrace_attr_getorder(&attr, &order));
	EXPECT_EQ(POSIXTRACE_ORDER_RELAXED, order);
	posix_trace_attr_destroy(&attr);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* Records numbers, and occasionally moves to another processor. */
static void *record_numbers(void *arg)
{
	for (unsigned int number = 0; number < EVENTS; number++) {
		if (number % 64 == 0)
			run_on(number / 64);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
	}
	return arg;
}

TEST_F(order, relaxed_events_of_a_thread_and_of_a_processor_are_in_order)
{
	struct posixtrace_batch_event events[64];
	unsigned int number, expected = 0;
	unsigned char data[64 * 64];
	__u64 last = 0, time;
	pthread_t thread;
	size_t count;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 8 << 20));
	ASSERT_EQ(0, posixtrace_attr_setorder(&self->attr, POSIXTRACE_ORDER_RELAXED));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_numbers, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	do {
		ASSERT_EQ(0, posixtrace_getevents(self->trid, events, 64, data, sizeof(data),
						  &count, POSIXTRACE_NOWAIT));
		for (size_t i = 0; i < count; i++) {
			if (events[i].event.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
				continue;
			memcpy(&number, events[i].data, sizeof(number));
			ASSERT_EQ(expected, number);
			expected++;
			time = events[i].event.posix_timestamp.tv_sec * 1000000000ULL +
			       events[i].event.posix_timestamp.tv_nsec;
			ASSERT_LE(last, time);
			last = time;
		}
	} while (count);
	EXPECT_EQ(EVENTS, expected);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_HARNESS_MAIN
