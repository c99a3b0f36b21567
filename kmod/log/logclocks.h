/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGCLOCKS_H
#define PXT_LOGCLOCKS_H

#include <linux/posixtrace_log.h>

#include "ring/clockstate.h"

/* Moments that are kept: the start of the log, and before and after each of the last steps. */
#define PXT_LOG_POINTS	(1 + 2 * PXT_CLOCKSTATES)
/* Errors of CLOCK_REALTIME that are kept. */
#define PXT_LOG_CLOCK_ERRORS	16
/* Pairs at each moment: CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_TAI, CLOCK_BOOTTIME. */
#define PXT_LOG_CLOCKS	4
/* Maximum pairs in a block; one more moment is the current one. */
#define PXT_LOG_PAIRS	((PXT_LOG_POINTS + 1) * PXT_LOG_CLOCKS + PXT_LOG_CLOCK_ERRORS)

static_assert(PXT_LOG_PAIRS * sizeof(struct posixtrace_log_clock) <= POSIXTRACE_LOG_PROGRAM_SIZE);

/**
 * struct pxt_clock_point - readings of all clocks at one moment
 * @time: clock of the events, ns
 * @value: the others, ns
 * @stepped: bit n: clock n or the clock of the events was set just before
 */
struct pxt_clock_point {
	u64 time;
	s64 value[PXT_LOG_CLOCKS];
	u32 stepped;
};

/**
 * struct pxt_clock_error - an error of CLOCK_REALTIME
 * @time: clock of the events, ns
 * @real: CLOCK_REALTIME at that time, ns
 * @error: its maximum error, ns; or POSIXTRACE_CLOCK_ERROR_UNKNOWN
 * @states: pxt_clockstate_total() at that time
 */
struct pxt_clock_error {
	u64 time;
	s64 real;
	u64 error;
	u64 states;
};

/**
 * struct pxt_logclocks - pairs of clocks for a log
 *
 * Used by CREATE, then by the serving task.
 */
struct pxt_logclocks {
	/** @states: pxt_clockstate_total() when the steps so far were added to @point */
	u64 states;
	/** @point: moments, oldest first; the first ones may be in the log already */
	struct pxt_clock_point point[PXT_LOG_POINTS];
	/** @points: number of elements of @point */
	u32 points;
	/** @points_written: number of them that are in the log */
	u32 points_written;
	/** @error: errors, oldest first; the first ones may be in the log already */
	struct pxt_clock_error error[PXT_LOG_CLOCK_ERRORS];
	/** @errors: number of elements of @error */
	u32 errors;
	/** @errors_written: number of them that are in the log */
	u32 errors_written;
	/** @mark: no event of the next log is older, ns */
	u64 mark;
	/** @due: when to write the next pairs, ns */
	u64 due;
	/** @blocks: number of blocks with pairs in the log */
	u32 blocks;
	/** @steps: number of steps in the log */
	u32 steps;
	/** @ended: the pairs at the end of the log were written */
	bool ended;
};

void pxt_logclocks_begin(struct pxt_logclocks *clocks);
void pxt_logclocks_mark(struct pxt_logclocks *clocks);
void pxt_logclocks_rewind(struct pxt_logclocks *clocks);
void pxt_logclocks_restart(struct pxt_logclocks *clocks);
void pxt_logclocks_measure(struct pxt_clock_error *error, u64 ns);
bool pxt_logclocks_due(const struct pxt_logclocks *clocks);
u32 pxt_logclocks_fill(struct pxt_logclocks *clocks, const struct pxt_clock_error *error,
		       struct posixtrace_log_clock *to);
void pxt_logclocks_written(struct pxt_logclocks *clocks);

#endif /* PXT_LOGCLOCKS_H */
