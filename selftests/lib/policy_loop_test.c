// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX_TRACE_LOOP: a window of the most recent events that moves over those
 * that nobody reads.
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
	int next;		/* number of the next event to be recorded */
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

/* All over the CPUs, for there the window has its difficulties. */
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

TEST_F(loop, nothing_is_lost_while_the_reader_keeps_up)
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

TEST_F(loop, runs_on_when_events_are_overwritten)
{
	struct posix_trace_status_info status;

	record(&self->next, 1500);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	/* Told once. */
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun(self->trid));
}

TEST_F(loop, window_is_the_most_recent_events_without_holes)
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
	/* No less than stream-min-size of them, whatever CPUs they came from. */
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

TEST_F(loop, overflow_has_the_time_of_the_first_event_lost)
{
	unsigned long long before, between;
	struct event event;

	/* What is read is not lost: the gap begins with what comes then. */
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

/* The gap lies behind what was half read: those before it come first. */
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

/* A writer at full speed against a reader: numbers rise, pairs tell each hole. */
TEST_F(loop, every_hole_is_told_while_both_run)
{
	int expected = 0, holes = 0, told = 0;
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
			told++;
			continue;
		}
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ASSERT_LE(expected, event_number(&event));
		if (event_number(&event) > expected) {
			holes++;
			ASSERT_TRUE(resumed);
		}
		resumed = false;
		expected = event_number(&event) + 1;
	}
	EXPECT_EQ(6000, expected);
	EXPECT_EQ(holes, told);
	EXPECT_EQ(holes ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN, overrun(self->trid));
}

TEST_HARNESS_MAIN
