// SPDX-License-Identifier: GPL-2.0
/*
 * Remembers the last steps of the clocks, for logs. All clocks of the kernel run at the same speed,
 * also while NTP slews them, so the differences between them change only when a clock is set: by
 * clock_settime(), adjtimex(), a leap second, or after a suspend.
 */
#include <linux/clocksource.h>
#include <linux/minmax.h>
#include <linux/seqlock.h>
#include <linux/timekeeper_internal.h>
#include <linux/timekeeping.h>

#include "ring/clockstate.h"

/* Written under the lock of the timekeeper. */
static seqcount_t pxt_clockstate_seq = SEQCNT_ZERO(pxt_clockstate_seq);
/* A ring: state n is element n % PXT_CLOCKSTATES. */
static struct pxt_clockstate pxt_clockstate_ring[PXT_CLOCKSTATES];
static u64 pxt_clockstate_count;

static bool are_equal(const struct pxt_clockstate *a, const struct pxt_clockstate *b)
{
	return a->offset == b->offset && a->real == b->real && a->tai == b->tai &&
	       a->boot == b->boot;
}

/**
 * pxt_clockstate_note() - note the state of the clocks
 * @tk: the timekeeper; its lock is held, and interrupts are off
 * @offset: clock of the events - CLOCK_MONOTONIC, ns
 */
void pxt_clockstate_note(const struct timekeeper *tk, s64 offset)
{
	const struct tk_read_base *tkr = &tk->tkr_mono;
	const u64 count = pxt_clockstate_count;
	struct pxt_clockstate state = {
		.since = ktime_to_ns(tkr->base) + (tkr->xtime_nsec >> tkr->shift),
		.offset = offset,
		.real = ktime_to_ns(tk->offs_real),
		.tai = ktime_to_ns(tk->offs_tai),
		.boot = ktime_to_ns(tk->offs_boot),
	};

	if (count && are_equal(&pxt_clockstate_ring[(count - 1) % PXT_CLOCKSTATES], &state))
		return;
	write_seqcount_begin(&pxt_clockstate_seq);
	pxt_clockstate_ring[count % PXT_CLOCKSTATES] = state;
	WRITE_ONCE(pxt_clockstate_count, count + 1);
	write_seqcount_end(&pxt_clockstate_seq);
}

/**
 * pxt_clockstate_total() - get the number of states so far
 *
 * Return: the number; the current state has the number before it.
 */
u64 pxt_clockstate_total(void)
{
	return READ_ONCE(pxt_clockstate_count);
}

/**
 * pxt_clockstate_read() - get the latest states
 * @from: number of the first state to get; if it is no longer known, the oldest one that is known;
 *	if it is too large, the current state
 * @states: result
 *
 * Context: not in NMI, and not under the lock of the timekeeper.
 */
void pxt_clockstate_read(u64 from, struct pxt_clockstates *states)
{
	u64 first, i;
	u32 seq;

	do {
		seq = read_seqcount_begin(&pxt_clockstate_seq);
		states->total = pxt_clockstate_count;
		first = states->total - min_t(u64, states->total, PXT_CLOCKSTATES);
		if (states->total)
			first = clamp(from, first, states->total - 1);
		for (i = first; i < states->total; i++)
			states->state[i - first] = pxt_clockstate_ring[i % PXT_CLOCKSTATES];
		states->count = states->total - first;
		/* If a clock is set now, CLOCK_MONOTONIC is in another state: retry. */
		states->now = ktime_get_ns();
	} while (read_seqcount_retry(&pxt_clockstate_seq, seq));
}
