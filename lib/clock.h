/* SPDX-License-Identifier: MIT */
/* The clock of the timestamps, as pxt_clock_now() in the module has it. */
#ifndef PXTU_CLOCK_H
#define PXTU_CLOCK_H

#include <time.h>

#include "state.h"

#ifdef __x86_64__
__extension__ typedef unsigned __int128 pxtu_u128;

/*
 * Not before anything that was read until now: what happened before an event has the
 * smaller time. That is what LFENCE is for, on Intel's and on AMD's.
 */
static inline __u64 pxtu_counter(void)
{
	__u32 low, high;

	__asm__ __volatile__ ("lfence\n\trdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (__u64)high << 32 | low;
}

/* False if the kernel has no counter for us, or is just changing what it says of it. */
static inline bool pxtu_clock_count(const struct posixtrace_clock *clock, __u64 *time)
{
	/* Pairs with the kernel's barrier between the first change of it and the rest. */
	__u32 seq = pxtu_load_acquire(&clock->seq);
	__u64 cycles, last, base;
	pxtu_u128 units;

	if (pxtu_load(&clock->counter) != POSIXTRACE_COUNTER_TSC)
		return false;
	last = pxtu_load(&clock->cycle_last);
	base = pxtu_load(&clock->base) + (__u64)pxtu_load(&clock->offset);
	cycles = pxtu_counter();
	/* The counters of two CPUs may differ a little. */
	cycles = cycles > last ? cycles - last : 0;
	units = (pxtu_u128)cycles * pxtu_load(&clock->mult) + pxtu_load(&clock->fraction);
	*time = base + (__u64)(units >> (pxtu_load(&clock->shift) & 63));
	/* Pairs with the kernel's barrier before the last change of it. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(seq & 1) && pxtu_load(&clock->seq) == seq;
}
#else
static inline bool pxtu_clock_count(const struct posixtrace_clock *clock, __u64 *time)
{
	(void)clock;
	(void)time;
	return false;
}
#endif

/**
 * pxtu_clock_now() - the time for a timestamp
 * @state: of this process
 * @clock: in its gate
 *
 * Mostly no system call.
 *
 * Return: nanoseconds since the Epoch.
 */
static inline __u64 pxtu_clock_now(const struct pxtu_state *state,
				   const struct posixtrace_clock *clock)
{
	struct timespec mono;
	__u64 time;

	if (pxtu_likely(pxtu_clock_count(clock, &time)))
		return time;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return (__u64)mono.tv_sec * 1000000000U + (__u64)mono.tv_nsec +
	       (__u64)(pxtu_load(&clock->offset) - pxtu_load(&state->clock_shift));
}

#endif /* PXTU_CLOCK_H */
