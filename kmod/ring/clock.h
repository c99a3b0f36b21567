/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CLOCK_H
#define PXT_CLOCK_H

#include <linux/compiler.h>
#include <linux/mm_types.h>
#include <linux/types.h>

#ifdef CONFIG_X86_64
#include <asm/msr.h>
#endif

#include <linux/posixtrace.h>

#include "compat.h"

/* Written only by clock.c and counter.c. */
extern struct posixtrace_clock *pxt_clock_page;

void pxt_clock_get(void);
void pxt_clock_put(void);
u64 pxt_clock_now(void);
u64 pxt_clock_now_slow(void) __cold;
void pxt_clock_pass(u64 time);
u32 pxt_clock_resolution(void);
u32 pxt_clock_counter(void);
struct page *pxt_clock_map(void);
int pxt_clock_init(void);
void pxt_clock_exit(void);

/**
 * pxt_clock_now_fast() - pxt_clock_now(), inline where traced processes read the same counter
 *
 * Context: interrupts are off, not in NMI, so that this CPU does not change the clock.
 */
static __always_inline u64 pxt_clock_now_fast(void)
{
#ifdef CONFIG_X86_64
	const struct posixtrace_clock *clock = pxt_clock_page;
	/* Pairs with the barrier in counter_changed() after it has changed the clock. */
	u32 seq = smp_load_acquire(&clock->seq);
	u64 last = READ_ONCE(clock->cycle_last), cycles, time;

	/*
	 * The difference is huge without a counter (POSIXTRACE_CYCLE_NONE), and also if this CPU's
	 * counter is less than the value read by the last tick. Both cases are left to
	 * pxt_clock_now_slow().
	 */
	cycles = rdtsc_ordered() - last;
	time = READ_ONCE(clock->real) +
	       ((cycles * READ_ONCE(clock->mult) + READ_ONCE(clock->fraction)) >>
		POSIXTRACE_CLOCK_SHIFT);
	/*
	 * Pairs with the barrier in counter_changed() before it changes the clock. If seq was
	 * odd, the comparison fails: seq never returns to the even value before it.
	 */
	smp_rmb();
	if (likely(!upper_32_bits(cycles) && READ_ONCE(clock->seq) == (seq & ~1U)))
		return time;
#endif
	return pxt_clock_now_slow();
}

#endif /* PXT_CLOCK_H */
