// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX_TRACE_LOOP: the stream keeps the most recent events by overwriting unread ones.
 * POSIX_TRACE_UNTIL_FULL: the stream stops automatically when it is full, and restarts after it has
 * been read.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "stream_fixtures.h"
#include "trace_test.h"

/* Event data so large that a few hundred events fill the stream. */
struct payload {
	int number;
	char filler[196];
};

static int next;		/* number of the next event to record */

/* Records on all CPUs, which makes overwriting difficult. */
static void record(int count)
{
	struct payload payload = { .number = 0 };

	for (int i = 0; i < count; i++) {
		if (next % 20 == 0)
			run_on(next / 20);
		payload.number = next++;
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &payload, sizeof(payload));
	}
}

static void *record_many(void *arg)
{
	(void)arg;
	record(6000);
	return NULL;
}

static int overrun(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_overrun_status;
}

/* If a sub-buffer was partly read, its events come before the gap. */
TEST_F(loop, order_is_kept_across_a_gap)
{
	unsigned long long last = 0;
	struct event event;
	int number = -1;

	record(100);
	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
	}
	record(1500);
	while (take(self->trid, &event) == 1) {
		ASSERT_LE(last, event_time(&event));
		last = event_time(&event);
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ASSERT_LT(number, event_number(&event));
		number = event_number(&event);
	}
	EXPECT_EQ(next - 1, number);
}

/* With a writer at full speed, numbers increase, and a pair of events reports each gap. */
TEST_F(loop, every_gap_is_reported_while_both_run)
{
	int expected = 0, gaps = 0, reported = 0;
	bool ended = false, resumed = false;
	struct event event;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, record_many, NULL));
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

TEST_F(until_full, each_round_is_complete)
{
	struct event event;

	for (int round = 0; round < 4; round++) {
		int expected = next, starts = 0, stops = 0, pairs = 0;

		record(1200);
		for (;;) {
			ASSERT_EQ(1, take(self->trid, &event));
			if (event.info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT) {
				ASSERT_EQ(expected, event_number(&event));
				expected++;
				continue;
			}
			pairs += event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
			starts += event.info.posix_event_id == POSIX_TRACE_START;
			stops += event.info.posix_event_id == POSIX_TRACE_STOP;
			if (stops)
				break;
		}
		EXPECT_EQ(1, starts);
		EXPECT_EQ(round ? 1 : 0, pairs);
		EXPECT_LT(next - 1200, expected);
	}
}

/* START and STOP alternate, and all gaps are between STOP and START. */
TEST_F(until_full, gaps_are_between_stop_and_start_while_both_run)
{
	bool ended = false, running = false, gap = false;
	struct event event;
	pthread_t thread;
	int expected = 0;

	ASSERT_EQ(0, pthread_create(&thread, NULL, record_many, NULL));
	for (;;) {
		int ret = take(self->trid, &event);

		ASSERT_LE(0, ret);
		if (ret == 0 && ended)
			break;
		if (ret == 0) {
			ended = pthread_tryjoin_np(thread, NULL) == 0;
			continue;
		}
		if (event.info.posix_event_id == POSIX_TRACE_START) {
			ASSERT_FALSE(running);
			running = true;
		} else if (event.info.posix_event_id == POSIX_TRACE_STOP) {
			ASSERT_TRUE(running);
			running = false;
		} else if (event.info.posix_event_id == POSIX_TRACE_OVERFLOW) {
			ASSERT_FALSE(running);
			gap = true;
		} else if (event.info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT) {
			ASSERT_TRUE(running);
			ASSERT_LE(expected, event_number(&event));
			if (event_number(&event) > expected)
				ASSERT_TRUE(gap);
			gap = false;
			expected = event_number(&event) + 1;
		}
	}
	EXPECT_LT(0, expected);
}

TEST_HARNESS_MAIN
