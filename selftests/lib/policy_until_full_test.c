// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX_TRACE_UNTIL_FULL: stops by itself, and starts again when it was read.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
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

/* ------------------------------------------------------------------ */
/* Each hole is reported						*/

#define BATCH	4096

struct holes {
	int starts;
	int pairs;		/* since the last START */
	int unreported;		/* START without a pair before it, but for the first */
	unsigned long long lost;
};

static void count_hole(struct holes *holes, const struct posixtrace_batch_event *event)
{
	holes->lost = event->lost;
	if (event->event.posix_event_id == POSIX_TRACE_OVERFLOW) {
		holes->pairs++;
	} else if (event->event.posix_event_id == POSIX_TRACE_START) {
		holes->unreported += holes->starts && holes->pairs != 1;
		holes->starts++;
		holes->pairs = 0;
	}
}

/* Returns the number of events, or -1. */
static long count_holes(trace_id_t trid, struct holes *holes)
{
	static struct posixtrace_batch_event events[BATCH];
	static char buffer[1 << 20];
	size_t count;

	if (posixtrace_getevents(trid, events, BATCH, buffer, sizeof(buffer), &count,
				 POSIXTRACE_NOWAIT))
		return -1;
	for (size_t i = 0; i < count; i++)
		count_hole(holes, &events[i]);
	return (long)count;
}

/* Faster than the reader, on one processor. */
static void *record_very_many(void *arg)
{
	struct payload payload = { .number = 0 };

	for (int i = 0; i < 300000; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &payload, sizeof(payload));
	return arg;
}

/* The reader finds no STOP that would tell it to look for the hole before it asks for START. */
TEST_F(until_full, each_hole_is_reported_though_stop_is_filtered)
{
	struct posixtrace_stats_info stats;
	struct holes holes = { 0 };
	trace_event_set_t filter;
	bool ended = false;
	pthread_t thread;
	long count;

	posix_trace_eventset_empty(&filter);
	posix_trace_eventset_add(POSIX_TRACE_STOP, &filter);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &filter, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_very_many, &self->next));
	do {
		ended = ended || pthread_tryjoin_np(thread, NULL) == 0;
		count = count_holes(self->trid, &holes);
		ASSERT_LE(0, count);
	} while (!ended || count);
	EXPECT_LT(1, holes.starts);
	EXPECT_EQ(0, holes.unreported);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(stats.dropped, holes.lost);
}

TEST_HARNESS_MAIN
