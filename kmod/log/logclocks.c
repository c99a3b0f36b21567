// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of clocks for a log, so that a reader can convert its times to other clocks. They are
 * exact: between two steps, the differences of the clocks are constant, see ring/clockstate.c.
 *
 * The start of a log, each step and the end would suffice for a reader of a complete log. A pair
 * every few seconds shows the reader of another log that there was no step. It is written with
 * events, so that a stream without events wakes no processor. A log has a bounded number of pairs:
 * the interval between them grows.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time.h>
#include <linux/time64.h>

#include "log/logclocks.h"
#include "ring/clock.h"

/* Time between two blocks of pairs, ns. It is doubled after each BLOCKS of them. */
#define INTERVAL	(4ULL * NSEC_PER_SEC)
#define BLOCKS		256
#define DOUBLE_MAX	20

/* After this many steps in a log, further steps are only written with the interval. */
#define STEPS_MAX	256

enum { MONOTONIC, REALTIME, TAI, BOOTTIME };

#define ALL_STEPPED	(BIT(PXT_LOG_CLOCKS) - 1)

static const s32 clock_ids[PXT_LOG_CLOCKS] = {
	[MONOTONIC] = CLOCK_MONOTONIC,
	[REALTIME] = CLOCK_REALTIME,
	[TAI] = CLOCK_TAI,
	[BOOTTIME] = CLOCK_BOOTTIME,
};

static struct pxt_clock_point point_at(const struct pxt_clockstate *state, u64 monotonic)
{
	return (struct pxt_clock_point){
		.time = monotonic + state->offset,
		.value = {
			[MONOTONIC] = monotonic,
			[REALTIME] = monotonic + state->real,
			[TAI] = monotonic + state->tai,
			[BOOTTIME] = monotonic + state->boot,
		},
	};
}

static const struct pxt_clockstate *last_state(const struct pxt_clockstates *states)
{
	return &states->state[states->count - 1];
}

static u32 stepped_clocks(const struct pxt_clockstate *before, const struct pxt_clockstate *after)
{
	u32 stepped = 0;

	if (before->offset != after->offset)
		return ALL_STEPPED;
	if (before->real != after->real)
		stepped |= BIT(REALTIME);
	if (before->tai != after->tai)
		stepped |= BIT(TAI);
	if (before->boot != after->boot)
		stepped |= BIT(BOOTTIME);
	return stepped;
}

static void drop_points(struct pxt_logclocks *clocks, u32 count)
{
	clocks->points -= count;
	clocks->points_written -= min(clocks->points_written, count);
	memmove(clocks->point, clocks->point + count, clocks->points * sizeof(*clocks->point));
}

static void add_point(struct pxt_logclocks *clocks, const struct pxt_clock_point *point)
{
	if (clocks->points == PXT_LOG_POINTS) {
		/* A reader must not look beyond the step that is forgotten. */
		drop_points(clocks, 2);
		clocks->point[0].stepped = ALL_STEPPED;
	}
	clocks->point[clocks->points++] = *point;
}

static void add_error(struct pxt_logclocks *clocks, const struct pxt_clock_error *error)
{
	if (clocks->errors == PXT_LOG_CLOCK_ERRORS) {
		clocks->errors--;
		clocks->errors_written -= min(clocks->errors_written, 1U);
		memmove(clocks->error, clocks->error + 1,
			clocks->errors * sizeof(*clocks->error));
	}
	clocks->error[clocks->errors++] = *error;
}

/* After CLOCK_REALTIME was set, its last error says nothing. */
static void forget_error(struct pxt_logclocks *clocks, const struct pxt_clock_point *point)
{
	struct pxt_clock_error unknown = {
		.time = point->time,
		.real = point->value[REALTIME],
		.error = POSIXTRACE_CLOCK_ERROR_UNKNOWN,
	};

	if (clocks->errors &&
	    clocks->error[clocks->errors - 1].error != POSIXTRACE_CLOCK_ERROR_UNKNOWN)
		add_error(clocks, &unknown);
}

static void add_step(struct pxt_logclocks *clocks, const struct pxt_clockstate *before,
		     const struct pxt_clockstate *after)
{
	struct pxt_clock_point point = point_at(before, after->since);

	add_point(clocks, &point);
	point = point_at(after, after->since);
	point.stepped = stepped_clocks(before, after);
	add_point(clocks, &point);
	if (point.stepped & BIT(REALTIME))
		forget_error(clocks, &point);
	clocks->steps++;
}

/* The kernel has forgotten steps of the clocks. */
static void add_unknown_steps(struct pxt_logclocks *clocks, const struct pxt_clockstate *state)
{
	struct pxt_clock_point point = point_at(state, state->since);

	point.stepped = ALL_STEPPED;
	add_point(clocks, &point);
	forget_error(clocks, &point);
	clocks->steps++;
}

/* Add all steps since the last call. Returns the current moment. */
static struct pxt_clock_point catch_up(struct pxt_logclocks *clocks)
{
	struct pxt_clockstates states;
	u32 i;

	pxt_clockstate_read(clocks->states - 1, &states);
	if (states.total - states.count > clocks->states - 1)
		add_unknown_steps(clocks, &states.state[0]);
	for (i = 1; i < states.count; i++)
		add_step(clocks, &states.state[i - 1], &states.state[i]);
	clocks->states = states.total;
	return point_at(last_state(&states), states.now);
}

/**
 * pxt_logclocks_begin() - start to collect pairs
 * @clocks: zeroed; of a stream, so that the clock of the events is in use
 */
void pxt_logclocks_begin(struct pxt_logclocks *clocks)
{
	struct pxt_clockstates states;

	pxt_clockstate_read(U64_MAX, &states);
	clocks->states = states.total;
	clocks->point[0] = point_at(last_state(&states), states.now);
	clocks->points = 1;
}

/**
 * pxt_logclocks_mark() - note that the next log has no event that is older
 * @clocks: begun
 *
 * Called before the sub-buffers are closed that belong to this log.
 */
void pxt_logclocks_mark(struct pxt_logclocks *clocks)
{
	clocks->mark = pxt_clock_now();
}

/**
 * pxt_logclocks_rewind() - note that the log lost all pairs, but not its events
 * @clocks: begun
 */
void pxt_logclocks_rewind(struct pxt_logclocks *clocks)
{
	clocks->points_written = 0;
	clocks->errors_written = 0;
}

/* Move the first moment to the mark, unless a clock is set between them. */
static void advance_first(struct pxt_logclocks *clocks)
{
	struct pxt_clock_point *first = clocks->point;
	u64 delta;
	u32 i;

	if (first->time >= clocks->mark)
		return;
	delta = clocks->mark - first->time;
	if (clocks->points > 1 && first[1].value[MONOTONIC] - first->value[MONOTONIC] < delta)
		return;
	first->time += delta;
	for (i = 0; i < PXT_LOG_CLOCKS; i++)
		first->value[i] += delta;
	first->stepped = 0;
}

/**
 * pxt_logclocks_restart() - note that the log has no contents, or that another log begins
 * @clocks: begun, or zeroed
 *
 * Keeps what is about events after the mark.
 */
void pxt_logclocks_restart(struct pxt_logclocks *clocks)
{
	u32 old = 0;

	if (!clocks->points)
		return;
	while (old + 1 < clocks->points && clocks->point[old + 1].time <= clocks->mark)
		old++;
	drop_points(clocks, old);
	advance_first(clocks);
	if (clocks->errors > 1) {
		clocks->error[0] = clocks->error[clocks->errors - 1];
		clocks->errors = 1;
	}
	pxt_logclocks_rewind(clocks);
	clocks->blocks = 0;
	clocks->steps = 0;
	clocks->ended = false;
}

/**
 * pxt_logclocks_measure() - note an error of CLOCK_REALTIME
 * @error: result
 * @ns: its maximum error, ns; or POSIXTRACE_CLOCK_ERROR_UNKNOWN
 */
void pxt_logclocks_measure(struct pxt_clock_error *error, u64 ns)
{
	struct pxt_clockstates states;
	struct pxt_clock_point now;

	pxt_clockstate_read(U64_MAX, &states);
	now = point_at(last_state(&states), states.now);
	error->time = now.time;
	error->real = now.value[REALTIME];
	error->error = ns;
	error->states = states.total;
}

/**
 * pxt_logclocks_due() - check if pairs must be written
 * @clocks: begun
 *
 * Return: true if so.
 */
bool pxt_logclocks_due(const struct pxt_logclocks *clocks)
{
	if (clocks->ended)
		return false;
	return clocks->points_written < clocks->points ||
	       (clocks->steps < STEPS_MAX && pxt_clockstate_total() != clocks->states) ||
	       pxt_clock_now() >= clocks->due;
}

static void put_pair(struct posixtrace_log_clock *to, u64 time, s64 value, u64 error, s32 clock)
{
	to->time = time;
	to->value = value;
	to->error = error;
	to->clock = clock;
	to->flags = 0;
}

static struct posixtrace_log_clock *put_point(const struct pxt_clock_point *point,
					      struct posixtrace_log_clock *to)
{
	const u32 error = pxt_clock_resolution();
	u32 i;

	for (i = 0; i < PXT_LOG_CLOCKS; i++, to++) {
		put_pair(to, point->time, point->value[i], error, clock_ids[i]);
		if (point->stepped & BIT(i))
			to->flags = POSIXTRACE_LOG_CLOCK_STEPPED;
	}
	return to;
}

/**
 * pxt_logclocks_fill() - fill in the pairs that are not in the log
 * @clocks: begun
 * @error: a new error of CLOCK_REALTIME, or NULL
 * @to: room for PXT_LOG_PAIRS
 *
 * The pairs of the current moment are among them.
 *
 * Return: number of pairs.
 */
u32 pxt_logclocks_fill(struct pxt_logclocks *clocks, const struct pxt_clock_error *error,
		       struct posixtrace_log_clock *to)
{
	const struct pxt_clock_point now = catch_up(clocks);
	struct posixtrace_log_clock *next = to;
	u32 i;

	/* An error from before a step says nothing, see forget_error(). */
	if (error && error->states == clocks->states)
		add_error(clocks, error);
	for (i = clocks->points_written; i < clocks->points; i++)
		next = put_point(&clocks->point[i], next);
	next = put_point(&now, next);
	for (i = clocks->errors_written; i < clocks->errors; i++, next++)
		put_pair(next, clocks->error[i].time, clocks->error[i].real,
			 clocks->error[i].error, POSIXTRACE_LOG_CLOCK_UTC);
	return next - to;
}

/**
 * pxt_logclocks_written() - note that the pairs of pxt_logclocks_fill() are in the log
 * @clocks: begun
 */
void pxt_logclocks_written(struct pxt_logclocks *clocks)
{
	clocks->points_written = clocks->points;
	clocks->errors_written = clocks->errors;
	clocks->due = pxt_clock_now() + (INTERVAL << min(clocks->blocks / BLOCKS, DOUBLE_MAX));
	clocks->blocks++;
}
