// SPDX-License-Identifier: GPL-2.0
/*
 * The overrun of a stream, and the system events that report when it ran and what was lost:
 * Documentation/conformance/xsh_2_11_streams.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "policy_stream.h"
#include "stream_state.h"

/* ------------------------------------------------------------------ */
/* The overrun								*/

TEST_F(stream, a10_new_stream_is_not_overrun)
{
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

/* After each event, the status reports an overrun if and only if an event was lost. */
TEST_F(stream, a11_overrun_when_an_event_is_lost)
{
	unsigned long long lost = 0;
	int overruns = 0;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < TOO_MANY; i++) {
		struct posixtrace_stats_info stats;
		int overrun;

		if (i % 20 == 0)
			ASSERT_LE(0, run_on(i / 20));
		record_number(i);
		stats = stats_of(self->trid);
		overrun = overrun_of(self->trid);
		ASSERT_EQ(stats.dropped + stats.overwritten + stats.system_lost > lost ?
			  POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN, overrun);
		lost = stats.dropped + stats.overwritten + stats.system_lost;
		overruns += overrun == POSIX_TRACE_OVERRUN;
	}
	EXPECT_LT(0, overruns);
}

TEST_F(stream, a12_no_overrun_by_events_that_were_read)
{
	int next = 0;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 100; j++)
			record_number(next++);
		ASSERT_LE(100, take_all(self->trid));
	}
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	EXPECT_EQ(next, stats_of(self->trid).read);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
}

TEST_F(stream, a12_no_overrun_by_filtered_events)
{
	trace_event_set_t set;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	EXPECT_EQ(0, stats_of(self->trid).dropped);
}

/* ------------------------------------------------------------------ */
/* System events							*/

TEST_F(stream, a13_start_and_stop_enclose_the_events)
{
	int running = 0, number = 0, id;
	struct event event;

	for (int i = 0; i < 10; i++) {
		record_number(-1);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		for (int j = 0; j < 5; j++)
			record_number(number++);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
	}
	number = 0;
	while ((id = take_id(self->trid, &event)) > 0) {
		if (id == POSIX_TRACE_UNNAMED_USEREVENT) {
			ASSERT_TRUE(running);
			ASSERT_EQ(number++, event_number(&event));
			continue;
		}
		ASSERT_EQ(running ? POSIX_TRACE_STOP : POSIX_TRACE_START, id);
		running = !running;
	}
	EXPECT_EQ(50, number);
	EXPECT_FALSE(running);
}

TEST_F(until_full, a14_data_of_stop_is_the_cause)
{
	struct event event;
	int id;

	overfill(0);
	while ((id = take_id(self->trid, &event)) != POSIX_TRACE_STOP)
		ASSERT_LT(0, id);
	ASSERT_EQ(sizeof(int), event.len);
	EXPECT_NE(0, event_number(&event));
	/* The STOP is automatic, so it has no process. */
	EXPECT_EQ(0, event.info.posix_pid);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	while ((id = take_id(self->trid, &event)) != POSIX_TRACE_STOP)
		ASSERT_LT(0, id);
	ASSERT_EQ(sizeof(int), event.len);
	EXPECT_EQ(0, event_number(&event));
	EXPECT_EQ(getpid(), event.info.posix_pid);
}

/* The earliest and the latest time of each event. */
struct times {
	unsigned long long before[TOO_MANY];
	unsigned long long after[TOO_MANY];
};

static void overfill_timed(struct times *times, int first)
{
	for (int i = first; i < TOO_MANY; i++) {
		if (i % 20 == 0)
			run_on(i / 20);
		times->before[i] = now();
		record_number(i);
		times->after[i] = now();
	}
}

TEST_F(loop, a15_overflow_has_the_time_of_the_first_overwritten_event)
{
	const int taken = 25;
	struct times times;
	struct event event;

	for (int i = 0; i < taken; i++)
		record_number(i);
	/* Read all events so far, so that they cannot be lost. */
	ASSERT_EQ(1 + taken, take_all(self->trid));
	overfill_timed(&times, taken);
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
	EXPECT_LE(times.before[taken], event_time(&event));
	EXPECT_GE(times.after[taken], event_time(&event));
}

/* The first sub-buffer was partly read. Events that the library has read ahead are not lost. */
TEST_F(loop, a15_overflow_begins_within_a_sub_buffer)
{
	int next = TOO_MANY - 100, id;
	struct times times;
	struct event event;

	overfill_timed(&times, next);
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	for (int i = 0; i < 5; i++, next++) {
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		ASSERT_EQ(next, event_number(&event));
	}
	overfill(TOO_MANY);
	while ((id = take_id(self->trid, &event)) == POSIX_TRACE_UNNAMED_USEREVENT) {
		ASSERT_EQ(next, event_number(&event));
		next++;
	}
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, id);
	ASSERT_GT(TOO_MANY, next);
	EXPECT_LE(times.before[next], event_time(&event));
	EXPECT_GE(times.after[next], event_time(&event));
}

TEST_F(until_full, a15_overflow_has_the_time_of_the_first_dropped_event)
{
	struct times times;
	struct event event;
	int first;

	overfill_timed(&times, 0);
	first = stats_of(self->trid).recorded;
	ASSERT_GT(TOO_MANY, first);
	while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
		;
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
	EXPECT_LE(times.before[first], event_time(&event));
	EXPECT_GE(times.after[first], event_time(&event));
}

TEST_F(loop, a16_resume_has_the_time_of_the_next_event)
{
	unsigned long long resumed;
	struct event event;

	for (int gap = 0; gap < 3; gap++) {
		overfill_on_all_cpus(0);
		ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
		ASSERT_EQ(POSIX_TRACE_RESUME, take_id(self->trid, &event));
		resumed = event_time(&event);
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(resumed, event_time(&event));
		ASSERT_LT(0, take_all(self->trid));
	}
}

TEST_F(until_full, a16_resume_has_the_time_of_the_next_start)
{
	unsigned long long resumed;
	struct event event;

	for (int gap = 0; gap < 3; gap++) {
		overfill_on_all_cpus(0);
		while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
			;
		ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
		ASSERT_EQ(POSIX_TRACE_RESUME, take_id(self->trid, &event));
		resumed = event_time(&event);
		ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
		EXPECT_EQ(resumed, event_time(&event));
	}
}

/* Each gap between two events that are read is reported by one pair. */
TEST_F(stream, a17_one_pair_for_each_gap_and_none_without)
{
	int last = -1, expected = 0, pairs = 0, number = 0, id;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int round = 0; round < 8; round++) {
		/* In every second round, read all events before they can be lost. */
		if (round % 2)
			number = overfill_on_all_cpus(number);
		for (int i = 0; i < 20; i++)
			record_number(number++);
		while ((id = take_id(self->trid, &event)) > 0) {
			if (id == POSIX_TRACE_OVERFLOW) {
				pairs++;
				ASSERT_EQ(POSIX_TRACE_RESUME, take_id(self->trid, &event));
			}
			if (id != POSIX_TRACE_UNNAMED_USEREVENT)
				continue;
			ASSERT_LT(last, event_number(&event));
			expected += event_number(&event) > last + 1;
			last = event_number(&event);
			/* The pair of a gap precedes the next event. */
			ASSERT_EQ(expected, pairs);
		}
		ASSERT_EQ(0, id);
		/* A gap at the end is reported once an event follows it. */
		record_number(number++);
		ASSERT_EQ(1, take_user(self->trid, &event));
		expected += event_number(&event) > last + 1;
		last = event_number(&event);
		pairs = expected;
	}
	EXPECT_LT(0, expected);
}

TEST_F(stream, a18_overflow_and_resume_have_no_data_and_no_process)
{
	struct event event;
	int id, found = 0;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	while ((id = take_id(self->trid, &event)) > 0) {
		if (id != POSIX_TRACE_OVERFLOW && id != POSIX_TRACE_RESUME)
			continue;
		found++;
		EXPECT_EQ(0, event.len);
		EXPECT_EQ(0, event.info.posix_pid);
		EXPECT_EQ(0, event.info.posix_thread_id);
		EXPECT_EQ(NULL, event.info.posix_prog_address);
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	}
	EXPECT_EQ(2, found);
}

TEST_HARNESS_MAIN
