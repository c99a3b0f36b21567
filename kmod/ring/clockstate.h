/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CLOCKSTATE_H
#define PXT_CLOCKSTATE_H

#include <linux/types.h>

/* Number of states that are kept. */
#define PXT_CLOCKSTATES	12

struct timekeeper;

/**
 * struct pxt_clockstate - differences between the clocks, constant until one of them is set
 * @since: CLOCK_MONOTONIC when it began, ns
 * @offset: clock of the events - CLOCK_MONOTONIC, ns
 * @real: CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @tai: CLOCK_TAI - CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME - CLOCK_MONOTONIC, ns
 */
struct pxt_clockstate {
	u64 since;
	s64 offset;
	s64 real;
	s64 tai;
	s64 boot;
};

/**
 * struct pxt_clockstates - the latest states
 * @now: CLOCK_MONOTONIC, in the last state, ns
 * @total: number of states so far
 * @count: number of elements of @state, up to the current state; 0 without a stream
 * @state: the states
 */
struct pxt_clockstates {
	u64 now;
	u64 total;
	u32 count;
	struct pxt_clockstate state[PXT_CLOCKSTATES];
};

void pxt_clockstate_note(const struct timekeeper *tk, s64 offset);
u64 pxt_clockstate_total(void);
void pxt_clockstate_read(u64 from, struct pxt_clockstates *states);

#endif /* PXT_CLOCKSTATE_H */
