// SPDX-License-Identifier: GPL-2.0
/*
 * States and full policies of a stream, and how lost events are reported:
 * Documentation/conformance/xsh_2_11_streams.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "stream_state.h"
#include "withlog.h"

FIXTURE(loop)
{
	trace_id_t trid;
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

FIXTURE(until_full)
{
	trace_id_t trid;
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

/* The same, for what holds whatever the policy is. */
FIXTURE(stream)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(stream)
{
	int policy;
};

FIXTURE_VARIANT_ADD(stream, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(stream, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(stream)
{
	ASSERT_EQ(0, new_stream(0, variant->policy, &self->trid));
}

FIXTURE_TEARDOWN(stream)
{
	posix_trace_shutdown(self->trid);
}

static struct posixtrace_stats_info stats_of(trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid, &stats))
		memset(&stats, 0xff, sizeof(stats));
	return stats;
}

/* All over the CPUs, where sub-buffers are closed at different times. */
static int overfill_on_all_cpus(int first)
{
	for (int i = 0; i < TOO_MANY; i++) {
		if (i % 20 == 0)
			run_on(i / 20);
		record_number(first + i);
	}
	return first + TOO_MANY;
}

/* ------------------------------------------------------------------ */
/* States								*/

TEST_F(stream, a01_not_started_is_suspended_and_not_full)
{
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	record_number(1);
	EXPECT_EQ(0, stats_of(self->trid).recorded);
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

TEST_F(stream, a02_running_and_not_full_accepts_events)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
		record_number(i);
		ASSERT_EQ(i + 1, stats_of(self->trid).recorded);
	}
}

TEST_F(stream, a03_stopped_is_suspended_and_accepts_none)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	for (int i = 0; i < 20; i++)
		record_number(i);
	EXPECT_EQ(1, stats_of(self->trid).recorded);
	/* They are not lost either: nobody wanted them. */
	EXPECT_EQ(0, stats_of(self->trid).dropped);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

TEST_F(until_full, a04_cleared_when_full_is_suspended_and_not_full)
{
	overfill(0);
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

/* At the event that finds no room, not before. */
TEST_F(until_full, a05_without_room_it_is_suspended_and_full)
{
	struct posixtrace_stats_info stats;
	int number = 0;

	do {
		ASSERT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
		record_number(number++);
		ASSERT_GE(TOO_MANY, number);
		stats = stats_of(self->trid);
	} while (!stats.dropped);
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
	EXPECT_EQ(1, stats.dropped);
	EXPECT_EQ(number - 1, stats.recorded);
	/* What comes now is lost, too, and nothing else changes. */
	for (int i = 2; i < 20; i++) {
		record_number(number++);
		ASSERT_EQ(i, stats_of(self->trid).dropped);
		ASSERT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
	}
}

TEST_F(loop, a06_without_room_it_is_running_and_full)
{
	int number = 0;

	while (!stats_of(self->trid).overwritten) {
		record_number(number++);
		ASSERT_GE(TOO_MANY, number);
	}
	EXPECT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	/* It accepts events all the same. */
	for (int i = 0; i < 100; i++)
		record_number(number++);
	EXPECT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	EXPECT_EQ(number, stats_of(self->trid).recorded);
	EXPECT_EQ(0, stats_of(self->trid).dropped);
}

TEST_F(loop, a07_stopped_when_it_was_full_is_suspended_and_full)
{
	overfill(0);
	ASSERT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
}

TEST_F(loop, a08_is_not_full_when_it_was_read)
{
	overfill(0);
	ASSERT_LT(0, drain(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	overfill(0);
	ASSERT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_LT(0, drain(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

/* ------------------------------------------------------------------ */
/* All ways from state to state						*/

enum step { RECORD, READ, START, STOP, CLEAR };

/* A walk through the states: where it is, and what is in the stream. */
struct walk {
	trace_id_t trid;
	int loop;
	int state;
	int unread_system;
	int empty;
	int seen;
	struct posixtrace_stats_info stats;
	unsigned int seed;
};

/* Numbers that look like chance and are the same in each run. */
static unsigned int next_random(struct walk *walk, unsigned int end)
{
	walk->seed = walk->seed * 1103515245 + 12345;
	return (walk->seed >> 16) % end;
}

static int full_of(int state)
{
	return state & 0xff;
}

static int is_running(int state)
{
	return state >> 8 == POSIX_TRACE_RUNNING;
}

/* Does it: an error number, or -1 for an event that was taken, or 0. */
static int do_step(struct walk *walk, enum step step)
{
	struct event event;
	int id;

	switch (step) {
	case RECORD:
		record_number(1);
		return 0;
	case READ:
		id = take_id(walk->trid, &event);
		if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP)
			walk->unread_system--;
		return id > 0 ? -1 : -id;
	case START:
		return posix_trace_start(walk->trid);
	case STOP:
		return posix_trace_stop(walk->trid);
	case CLEAR:
		walk->unread_system = 0;
		return posix_trace_clear(walk->trid);
	}
	return EINVAL;
}

/* The state that must follow. */
static int next_state(struct walk *walk, enum step step, int dropped)
{
	int state = walk->state;
	int stuck = !walk->loop && state == STATE(SUSPENDED, FULL);

	if (step == RECORD && !walk->loop && is_running(state) && dropped) {
		walk->unread_system++;
		return STATE(SUSPENDED, FULL);
	}
	if ((step == READ && stuck && walk->empty) ||
	    (step == START && !is_running(state) && !stuck)) {
		walk->unread_system++;
		return POSIX_TRACE_RUNNING << 8 | (walk->loop ? full_of(state) : 0);
	}
	if (step == STOP && is_running(state)) {
		walk->unread_system++;
		return POSIX_TRACE_SUSPENDED << 8 | full_of(state);
	}
	return step == CLEAR ? state - full_of(state) : state;
}

/* How many more events must have been generated for the stream. */
static unsigned long long next_count(const struct walk *walk, enum step step)
{
	unsigned long long count = walk->stats.recorded + walk->stats.dropped;
	int stuck = !walk->loop && walk->state == STATE(SUSPENDED, FULL);

	if (step == CLEAR)
		return 0;
	return count + (step == RECORD && (is_running(walk->state) || stuck));
}

/* One step: NULL, or what was wrong. */
static const char *walk_on(struct walk *walk, enum step step)
{
	unsigned long long count = next_count(walk, step);
	struct posixtrace_stats_info stats;
	int ret, state, wanted, dropped;

	ret = do_step(walk, step);
	if (ret > 0)
		return "an error";
	stats = stats_of(walk->trid);
	if (stats.recorded + stats.dropped != count)
		return "the number of events";
	dropped = stats.dropped > walk->stats.dropped;
	walk->empty = stats.recorded == stats.read && !walk->unread_system;
	walk->stats = stats;
	state = state_of(walk->trid);
	wanted = next_state(walk, step, dropped);
	/* The window of LOOP fills and empties on its way. */
	if (walk->loop && (step == RECORD || step == READ))
		wanted += full_of(state) - full_of(wanted);
	walk->state = state;
	walk->seen |= 1 << (is_running(state) * 2 + full_of(state));
	return state == wanted ? NULL : "the state";
}

/* Every way from state to state as the functions above say, and no other. */
TEST_F(stream, a09_no_states_but_these_and_no_ways_but_these)
{
	struct walk walk = {
		.trid = self->trid,
		.loop = variant->policy == POSIX_TRACE_LOOP,
		.state = STATE(SUSPENDED, NOT_FULL),
		.seed = 2,
	};

	for (int i = 0; i < 40; i++) {
		/* It is a long way to full, and to empty. */
		const int counts[] = { 400, 400, 1, 1, 1 };
		const enum step steps[] = { RECORD, RECORD, RECORD, RECORD, READ, READ, START,
					    START, START, STOP, STOP, CLEAR };
		enum step step = steps[next_random(&walk, 12)];
		int count = 1 + next_random(&walk, counts[step]);

		while (count--) {
			const char *wrong;
			int before = walk.state;

			wrong = walk_on(&walk, step);
			ASSERT_EQ(NULL, wrong)
				TH_LOG("%s: round %d, step %d from state %x to %x", wrong, i,
				       step, before, walk.state);
			if (step == READ && walk.empty)
				break;
		}
	}
	/* It came by all there are: but for RUNNING and FULL, of LOOP alone. */
	EXPECT_EQ(walk.loop ? 0xf : 0x7, walk.seen);
}

/* ------------------------------------------------------------------ */
/* The overrun								*/

TEST_F(stream, a10_new_stream_is_not_overrun)
{
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

/* After each event: it tells of an overrun if and only if something was lost by it. */
TEST_F(stream, a11_overrun_is_when_an_event_is_lost)
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

TEST_F(stream, a12_no_overrun_by_what_was_read)
{
	int next = 0;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 100; j++)
			record_number(next++);
		ASSERT_LE(100, drain(self->trid));
	}
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	EXPECT_EQ(next, stats_of(self->trid).read);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
}

TEST_F(stream, a12_nor_by_what_was_filtered_out)
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

TEST_F(stream, a13_start_and_stop_are_the_windows_in_which_it_ran)
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

TEST_F(until_full, a14_data_of_stop_tells_who_stopped_it)
{
	struct event event;
	int id;

	overfill(0);
	while ((id = take_id(self->trid, &event)) != POSIX_TRACE_STOP)
		ASSERT_LT(0, id);
	ASSERT_EQ(sizeof(int), event.len);
	EXPECT_NE(0, event_number(&event));
	/* Nobody called for it. */
	EXPECT_EQ(0, event.info.posix_pid);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	while ((id = take_id(self->trid, &event)) != POSIX_TRACE_STOP)
		ASSERT_LT(0, id);
	ASSERT_EQ(sizeof(int), event.len);
	EXPECT_EQ(0, event_number(&event));
	EXPECT_EQ(getpid(), event.info.posix_pid);
}

/* When each event was generated, at the earliest and the latest. */
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

TEST_F(loop, a15_overflow_has_the_time_of_the_first_event_overwritten)
{
	const int taken = 25;
	struct times times;
	struct event event;

	for (int i = 0; i < taken; i++)
		record_number(i);
	/* Those are not lost. */
	ASSERT_EQ(1 + taken, drain(self->trid));
	overfill_timed(&times, taken);
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
	EXPECT_LE(times.before[taken], event_time(&event));
	EXPECT_GE(times.after[taken], event_time(&event));
}

/* What the first sub-buffer holds was read in part. */
TEST_F(loop, a15_also_in_the_middle_of_what_was_recorded_together)
{
	const int taken = 5;
	struct times times;
	struct event event;

	overfill_timed(&times, TOO_MANY - 100);
	for (int i = 0; i < 1 + taken; i++)
		ASSERT_EQ(1, take(self->trid, &event));
	overfill(TOO_MANY);
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
	EXPECT_LE(times.before[TOO_MANY - 100 + taken], event_time(&event));
	EXPECT_GE(times.after[TOO_MANY - 100 + taken], event_time(&event));
}

TEST_F(until_full, a15_overflow_has_the_time_of_the_first_event_dropped)
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

TEST_F(loop, a16_resume_has_the_time_of_the_event_behind_it)
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
		ASSERT_LT(0, drain(self->trid));
	}
}

TEST_F(until_full, a16_resume_has_the_time_of_the_start_behind_it)
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

/* Between what was read and what comes next, or there is no pair. */
TEST_F(stream, a17_one_pair_for_each_gap_and_none_without)
{
	int last = -1, expected = 0, pairs = 0, number = 0, id;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int round = 0; round < 8; round++) {
		/* Every other round all is read in time. */
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
			/* A hole has its pair in front of it. */
			ASSERT_EQ(expected, pairs);
		}
		ASSERT_EQ(0, id);
		/* A gap at the end is told of when something comes behind it. */
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

/* ------------------------------------------------------------------ */
/* Full policies							*/

TEST_F(loop, a19_loop_runs_until_it_is_stopped)
{
	int next = 0;

	for (int i = 0; i < 4; i++) {
		next = overfill_on_all_cpus(next);
		ASSERT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	}
	EXPECT_EQ(next, stats_of(self->trid).recorded);
	EXPECT_EQ(0, stats_of(self->trid).dropped);
}

TEST_F(loop, a20_loop_has_the_most_recent_events_without_holes)
{
	int next = 0, expected = -1, count = 0;
	struct event event;
	trace_attr_t attr;
	size_t size, each;

	next = overfill_on_all_cpus(overfill_on_all_cpus(next));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	while (take_user(self->trid, &event) == 1) {
		if (count++)
			ASSERT_EQ(expected, event_number(&event));
		expected = event_number(&event) + 1;
	}
	EXPECT_EQ(next, expected);
	/* As many as are promised, of this size. */
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&attr, sizeof(struct payload), &each));
	EXPECT_LE(size / each, count);
}

TEST_F(until_full, a21_until_full_has_the_oldest_events_and_stop_behind_them)
{
	int expected = 0, id;
	struct event event;
	trace_attr_t attr;
	size_t size, each;

	overfill_on_all_cpus(0);
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	while ((id = take_id(self->trid, &event)) == POSIX_TRACE_UNNAMED_USEREVENT)
		ASSERT_EQ(expected++, event_number(&event));
	EXPECT_EQ(POSIX_TRACE_STOP, id);
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&attr, sizeof(struct payload), &each));
	EXPECT_LE(size / each, expected);
}

/* Three times what it holds goes through it, never more than a third at once. */
TEST_F(stream, a22_room_of_events_that_were_read_is_used_again)
{
	int expected = 0, number = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 60; i++)
		record_number(number++);
	while (number < 900) {
		if (number % 20 == 0)
			ASSERT_LE(0, run_on(number / 20));
		record_number(number++);
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(expected++, event_number(&event));
	}
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

TEST_F(until_full, a23_starts_again_when_the_last_event_is_read)
{
	struct event event;
	int unread;

	overfill(0);
	unread = stats_of(self->trid).recorded;
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	while (unread--) {
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		ASSERT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
	}
	/* Not for lack of trying: what comes in between is lost. */
	record_number(4711);
	ASSERT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
}

TEST_F(until_full, a24_start_is_reported_before_what_is_recorded_then)
{
	struct event event;
	int number;

	for (int round = 0; round < 3; round++) {
		number = overfill_on_all_cpus(0);
		while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
			;
		record_number(number);
		EXPECT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_RESUME, take_id(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
		/* It starts by itself, with the filter that it has. */
		EXPECT_EQ(0, event.info.posix_pid);
		EXPECT_EQ(sizeof(trace_event_set_t), event.len);
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(number, event_number(&event));
	}
}

/* A reader that sleeps is woken by the first event of the new window. */
TEST_F(until_full, a24_blocked_reader_gets_it)
{
	struct event event;

	overfill(0);
	while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
		;
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data,
					       sizeof(event.data), &event.len,
					       &event.unavailable));
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, event.info.posix_event_id);
}

/* By posix_trace_stop(), when there was room: then it does not start by itself. */
TEST_F(until_full, a25_one_that_was_stopped_does_not_start_when_it_is_empty)
{
	for (int i = 0; i < 50; i++)
		record_number(i);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(52, drain(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

/* Waits until the log has that number, though nobody flushes. */
static void wait_for_number(int fd, int number)
{
	struct log_content content;

	do {
		sched_yield();
		log_content_fd(fd, &content);
	} while (content.last < number);
}

static const struct log_kind flush_append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };

TEST(a26_flush_is_flushed_again_and_again)
{
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t trid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_new(0, &flush_append, fd, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	for (int i = 0; i < 3; i++) {
		withlog_record(i, 1);
		wait_for_number(fd, i);
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, 3));
	EXPECT_LE(3, content.flush_starts);
	close(fd);
}

/* A stream that is flushed into a pipe which nobody reads. */
FIXTURE(stuck)
{
	trace_id_t trid;
	int pipe[2];
};

FIXTURE_SETUP(stuck)
{
	ASSERT_EQ(0, pipe2(self->pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(self->pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_new(0, &flush_append, self->pipe[1], &self->trid));
	close(self->pipe[1]);
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(stuck)
{
	close(self->pipe[0]);
	posix_trace_shutdown(self->trid);
}

TEST_F(stuck, a27_overrun_when_an_event_is_lost_during_a_flush)
{
	struct posix_trace_status_info status;

	withlog_record(0, 300);
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	withlog_record(300, 5000);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
}

/* By the policy, here: half of its memory is used. */
TEST_F(stuck, a28_flushing_during_a_flush_by_the_policy)
{
	struct posix_trace_status_info status;

	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, status.posix_stream_flush_status);
	withlog_record(0, 5000);
	do {
		sched_yield();
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_stream_flush_status != POSIX_TRACE_FLUSHING);
}

TEST_F(stuck, a29_first_error_of_a_flush_is_told_once)
{
	struct posix_trace_status_info status;

	close(self->pipe[0]);
	withlog_record(0, 10);
	EXPECT_EQ(EPIPE, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(EPIPE, withlog_flush(self->trid));
}

TEST(a30_log_full_and_overrun_are_told_of_the_log)
{
	const struct log_kind kinds[] = {
		{ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 16 << 10 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 16 << 10 },
	};
	struct posix_trace_status_info status;
	trace_id_t trid;
	int fd;

	for (int i = 0; i < 2; i++) {
		fd = log_tmpfile();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, withlog_new(0, &kinds[i], fd, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
		withlog_record(0, 700);
		ASSERT_EQ(0, posix_trace_flush(trid));
		do {
			sched_yield();
			ASSERT_EQ(0, posix_trace_get_status(trid, &status));
			/* Told once: it must not be overlooked. */
		} while (i ? status.posix_log_overrun_status != POSIX_TRACE_OVERRUN :
			     status.posix_log_full_status != POSIX_TRACE_FULL);
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
		EXPECT_EQ(0, posix_trace_shutdown(trid));
		close(fd);
	}
}

TEST_HARNESS_MAIN
