// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX_TRACE_LOOP: a window of the most recent events that overwrites unread ones.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "trace_test.h"

/* Large enough that a few hundred fill the stream. */
struct payload {
	int number;
	char filler[196];
};

FIXTURE(loop)
{
	trace_id_t trid;
	int next;		/* number of the next event to record */
};

FIXTURE_SETUP(loop)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(loop)
{
	posix_trace_shutdown(self->trid);
}

/* Records on all CPUs, which is the difficult case for the window. */
static void record(int *next, int count)
{
	struct payload payload = { .number = 0 };

	for (int i = 0; i < count; i++) {
		if (*next % 20 == 0)
			run_on(*next / 20);
		payload.number = (*next)++;
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &payload, sizeof(payload));
	}
}

static int overrun(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_overrun_status;
}

TEST_F(loop, no_event_is_lost_while_the_reader_keeps_up)
{
	struct event event;
	int expected = 0;

	for (int round = 0; round < 20; round++) {
		record(&self->next, 100);
		while (take(self->trid, &event) == 1) {
			if (event.info.posix_event_id == POSIX_TRACE_START)
				continue;
			ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
			ASSERT_EQ(expected, event_number(&event));
			expected++;
		}
	}
	EXPECT_EQ(self->next, expected);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun(self->trid));
}

TEST_F(loop, keeps_running_when_events_are_overwritten)
{
	struct posix_trace_status_info status;

	record(&self->next, 1500);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	/* The overrun is reported once. */
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun(self->trid));
}

TEST_F(loop, window_is_the_most_recent_events_without_gaps)
{
	int expected = -1, count = 0;
	struct event event;

	record(&self->next, 1500);
	while (take_user(self->trid, &event) == 1) {
		if (expected >= 0)
			ASSERT_EQ(expected, event_number(&event));
		expected = event_number(&event) + 1;
		count++;
	}
	EXPECT_EQ(self->next, expected);
	/* At least stream-min-size of events, from whichever CPUs. */
	EXPECT_LE(64 << 10, count * (200 + 48) * 8 / 7 + 300);
	EXPECT_GT(1500, count);
}

TEST_F(loop, gap_is_reported_once_and_before_the_window)
{
	unsigned long long first_lost, resumed;
	struct event event;

	record(&self->next, 1500);
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, event.info.posix_event_id);
	first_lost = event_time(&event);
	EXPECT_EQ(0, event.len);
	EXPECT_EQ(0, event.info.posix_pid);
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(POSIX_TRACE_RESUME, event.info.posix_event_id);
	resumed = event_time(&event);
	EXPECT_LT(first_lost, resumed);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
	EXPECT_EQ(resumed, event_time(&event));
	while (take(self->trid, &event) == 1)
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
}

TEST_F(loop, overflow_has_the_time_of_the_first_lost_event)
{
	unsigned long long before, between;
	struct event event;

	/* Events that were read are not lost: the gap begins with the next one. */
	record(&self->next, 50);
	while (take(self->trid, &event) == 1)
		;
	before = now();
	record(&self->next, 1);
	between = now();
	record(&self->next, 1500);
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, event.info.posix_event_id);
	EXPECT_LE(before, event_time(&event));
	EXPECT_GE(between, event_time(&event));
}

TEST_F(loop, each_gap_has_its_pair)
{
	struct event event;

	for (int gap = 0; gap < 3; gap++) {
		int events = 0, pairs = 0;

		record(&self->next, 1200);
		while (take(self->trid, &event) == 1) {
			if (event.info.posix_event_id == POSIX_TRACE_OVERFLOW) {
				ASSERT_EQ(0, events);
				ASSERT_EQ(1, take(self->trid, &event));
				ASSERT_EQ(POSIX_TRACE_RESUME, event.info.posix_event_id);
				pairs++;
				continue;
			}
			events++;
		}
		EXPECT_EQ(1, pairs);
		EXPECT_LT(0, events);
	}
}

/* A sub-buffer was partly read: its events come before the gap. */
TEST_F(loop, order_is_kept_across_a_gap)
{
	unsigned long long last = 0;
	struct event event;
	int number = -1;

	record(&self->next, 100);
	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
	}
	record(&self->next, 1500);
	while (take(self->trid, &event) == 1) {
		ASSERT_LE(last, event_time(&event));
		last = event_time(&event);
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ASSERT_LT(number, event_number(&event));
		number = event_number(&event);
	}
	EXPECT_EQ(self->next - 1, number);
}

static void *record_many(void *arg)
{
	record(arg, 6000);
	return NULL;
}

/* A writer at full speed against a reader: numbers rise, and a pair reports each gap. */
TEST_F(loop, every_gap_is_reported_while_both_run)
{
	int expected = 0, gaps = 0, reported = 0;
	bool ended = false, resumed = false;
	struct event event;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, record_many, &self->next));
	for (;;) {
		int ret = take(self->trid, &event);

		ASSERT_LE(0, ret);
		if (ret == 0 && ended)
			break;
		if (ret == 0) {
			ended = pthread_tryjoin_np(thread, NULL) == 0;
			continue;
		}
		if (event.info.posix_event_id == POSIX_TRACE_OVERFLOW) {
			ASSERT_EQ(1, take(self->trid, &event));
			ASSERT_EQ(POSIX_TRACE_RESUME, event.info.posix_event_id);
			resumed = true;
			reported++;
			continue;
		}
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ASSERT_LE(expected, event_number(&event));
		if (event_number(&event) > expected) {
			gaps++;
			ASSERT_TRUE(resumed);
		}
		resumed = false;
		expected = event_number(&event) + 1;
	}
	EXPECT_EQ(6000, expected);
	EXPECT_EQ(gaps, reported);
	EXPECT_EQ(gaps ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN, overrun(self->trid));
}

TEST_HARNESS_MAIN
