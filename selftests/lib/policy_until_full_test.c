// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX_TRACE_UNTIL_FULL: stops automatically, and restarts once it has been read.
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
