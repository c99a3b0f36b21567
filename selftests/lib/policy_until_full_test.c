// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX_TRACE_UNTIL_FULL: stops by itself, and starts again when it was read.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "trace_test.h"

struct payload {
	int number;
	char filler[196];
};

FIXTURE(until_full)
{
	trace_id_t trid;
	int next;		/* number of the next event to generate */
};

FIXTURE_SETUP(until_full)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(until_full)
{
	posix_trace_shutdown(self->trid);
}

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

TEST_F(until_full, stops_by_itself)
{
	struct posix_trace_status_info status;

	record(&self->next, 1500);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	/* The overrun is reported once, but the stream remains full. */
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
}

TEST_F(until_full, keeps_the_oldest_and_ends_with_stop)
{
	struct event event;
	int expected = 0, automatic = 0;

	record(&self->next, 1500);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	for (;;) {
		ASSERT_EQ(1, take(self->trid, &event));
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			break;
		ASSERT_EQ(expected, event_number(&event));
		expected++;
	}
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	ASSERT_EQ(sizeof(automatic), event.len);
	memcpy(&automatic, event.data, sizeof(automatic));
	EXPECT_NE(0, automatic);
	EXPECT_LE(64 << 10, expected * (200 + 48) * 8 / 7 + 300);
	EXPECT_GT(1500, expected);
}

TEST_F(until_full, start_and_stop_change_nothing_while_full)
{
	struct posix_trace_status_info status;
	struct event event;
	int system = 0;

	record(&self->next, 1500);
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	do {
		ASSERT_EQ(1, take(self->trid, &event));
		system += event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT;
	} while (event.info.posix_event_id != POSIX_TRACE_STOP);
	EXPECT_EQ(2, system);
}

TEST_F(until_full, starts_again_once_read_empty)
{
	struct posix_trace_status_info status;
	struct event event;
	int first;

	record(&self->next, 1500);
	do {
		ASSERT_EQ(1, take(self->trid, &event));
	} while (event.info.posix_event_id != POSIX_TRACE_STOP);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);

	/* The gap, the restart, and the later events. */
	first = self->next;
	record(&self->next, 3);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, event.info.posix_event_id);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_RESUME, event.info.posix_event_id);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(first + i, event_number(&event));
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(until_full, each_round_is_complete)
{
	struct event event;

	for (int round = 0; round < 4; round++) {
		int expected = self->next, starts = 0, stops = 0, pairs = 0;

		record(&self->next, 1200);
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
		EXPECT_LT(self->next - 1200, expected);
	}
}

TEST_F(until_full, does_not_start_again_when_it_was_stopped)
{
	struct posix_trace_status_info status;
	struct event event;

	record(&self->next, 100);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	while (take(self->trid, &event) == 1)
		;
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	record(&self->next, 10);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(until_full, reading_meanwhile_frees_space)
{
	struct posix_trace_status_info status;
	struct event event;
	int expected = 0;

	for (int round = 0; round < 20; round++) {
		record(&self->next, 100);
		while (take_user(self->trid, &event) == 1) {
			ASSERT_EQ(expected, event_number(&event));
			expected++;
		}
	}
	EXPECT_EQ(self->next, expected);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
}

static void *record_many(void *arg)
{
	record(arg, 6000);
	return NULL;
}

/* START and STOP alternate, and all gaps are between STOP and START. */
TEST_F(until_full, gaps_are_between_stop_and_start_while_both_run)
{
	bool ended = false, running = false, gap = false;
	struct event event;
	pthread_t thread;
	int expected = 0;

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
