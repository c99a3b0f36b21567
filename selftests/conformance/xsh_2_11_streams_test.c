// SPDX-License-Identifier: GPL-2.0
/*
 * States of a stream, and the changes between them:
 * Documentation/conformance/xsh_2_11_streams.rst. See xsh_2_11_streams_losses_test.c for
 * reports of lost events, and xsh_2_11_streams_policies_test.c for full policies.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "policy_stream.h"
#include "stream_state.h"

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
	/* A suspended stream does not count the events as lost. */
	EXPECT_EQ(0, stats_of(self->trid).dropped);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

TEST_F(until_full, a04_cleared_when_full_is_suspended_and_not_full)
{
	overfill(0);
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

/* The stream becomes full at the event that finds no space, not before. */
TEST_F(until_full, a05_until_full_without_space_is_suspended_and_full)
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
	/* Further events are also lost; the state does not change. */
	for (int i = 2; i < 20; i++) {
		record_number(number++);
		ASSERT_EQ(i, stats_of(self->trid).dropped);
		ASSERT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
	}
}

TEST_F(loop, a06_loop_without_space_is_running_and_full)
{
	int number = 0;

	while (!stats_of(self->trid).overwritten) {
		record_number(number++);
		ASSERT_GE(TOO_MANY, number);
	}
	EXPECT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	/* A full LOOP stream still accepts events. */
	for (int i = 0; i < 100; i++)
		record_number(number++);
	EXPECT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	EXPECT_EQ(number, stats_of(self->trid).recorded);
	EXPECT_EQ(0, stats_of(self->trid).dropped);
}

TEST_F(loop, a07_stopped_while_full_is_suspended_and_full)
{
	overfill(0);
	ASSERT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
}

TEST_F(loop, a08_not_full_after_it_was_read)
{
	overfill(0);
	ASSERT_LT(0, take_all(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	overfill(0);
	ASSERT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_LT(0, take_all(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

/* ------------------------------------------------------------------ */
/* All changes of state							*/

enum step { RECORD, READ, START, STOP, CLEAR };

/* A random walk through the states of a stream, with the state and contents after the last step. */
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

/* Pseudo-random numbers, the same in each run. */
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

/* Makes the step. Returns 0, -1 if it has read an event, or an error number. */
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

/* Returns the state that must follow. */
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

/* The number of events generated for the stream after the step. */
static unsigned long long next_count(const struct walk *walk, enum step step)
{
	unsigned long long count = walk->stats.recorded + walk->stats.dropped;
	int stuck = !walk->loop && walk->state == STATE(SUSPENDED, FULL);

	if (step == CLEAR)
		return 0;
	return count + (step == RECORD && (is_running(walk->state) || stuck));
}

/* Makes one step and checks the result. Returns NULL or the error. */
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
	/*
	 * The step may have filled or emptied the memory of a LOOP stream, which next_state()
	 * cannot know: expect the full status that the stream reports.
	 */
	if (walk->loop && (step == RECORD || step == READ))
		wanted += full_of(state) - full_of(wanted);
	walk->state = state;
	walk->seen |= 1 << (is_running(state) * 2 + full_of(state));
	return state == wanted ? NULL : "the state";
}

/* The state changes only in the ways that next_state() computes. */
TEST_F(stream, a09_no_other_states_and_changes)
{
	struct walk walk = {
		.trid = self->trid,
		.loop = variant->policy == POSIX_TRACE_LOOP,
		.state = STATE(SUSPENDED, NOT_FULL),
		.seed = 2,
	};

	for (int i = 0; i < 40; i++) {
		/* Repeat RECORD and READ often, so that the stream becomes full or empty. */
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
	/* The walk has reached all states: only LOOP can be RUNNING and FULL. */
	EXPECT_EQ(walk.loop ? 0xf : 0x7, walk.seen);
}

TEST_HARNESS_MAIN
