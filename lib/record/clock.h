/* SPDX-License-Identifier: MIT */
/* The clock of the timestamps, the same as pxt_clock_now() in the module. */
#ifndef PXTU_CLOCK_H
#define PXTU_CLOCK_H

#include <time.h>

#include "common/pxtu.h"

#if defined(__x86_64__) || defined(__aarch64__)
__extension__ typedef unsigned __int128 pxtu_u128;

#ifdef __x86_64__
#define PXTU_COUNTER	POSIXTRACE_COUNTER_TSC

/*
 * LFENCE makes the counter wait for all earlier loads, on Intel and on AMD, so that an event that
 * happened before another one has the smaller time.
 */
static inline __u64 pxtu_counter(void)
{
	__u32 low, high;

	__asm__ __volatile__ ("lfence\n\trdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (__u64)high << 32 | low;
}
#else
#define PXTU_COUNTER	POSIXTRACE_COUNTER_CNTVCT

/*
 * ISB makes the counter wait for all earlier branches. Our caller has branched on a word that it
 * loaded with acquire semantics, after the acquire loads of the program, so that an event that
 * happened before another one has the smaller time.
 */
static inline __u64 pxtu_counter(void)
{
	__u64 count;

	__asm__ __volatile__ ("isb\n\tmrs %0, cntvct_el0" : "=r" (count) : : "memory");
	return count;
}
#endif

/* False if the module publishes no counter, or is changing its parameters at this time. */
static inline bool pxtu_clock_count(const struct posixtrace_clock *clock, __u64 *time)
{
	/*
	 * Pairs with the barrier in the kernel's counter_changed() after it has changed the clock.
	 */
	__u32 seq = pxtu_load_acquire(&clock->seq);
	__u64 cycles, last, base;
	pxtu_u128 units;

	if (pxtu_load(&clock->counter) != PXTU_COUNTER)
		return false;
	last = pxtu_load(&clock->cycle_last);
	base = pxtu_load(&clock->base) + (__u64)pxtu_load(&clock->offset);
	cycles = pxtu_counter();
	/* The counters of two CPUs may differ slightly. */
	cycles = cycles > last ? cycles - last : 0;
	units = (pxtu_u128)cycles * pxtu_load(&clock->mult) + pxtu_load(&clock->fraction);
	*time = base + (__u64)(units >> POSIXTRACE_CLOCK_SHIFT);
	/* Pairs with the barrier in the kernel's counter_changed() before it changes the clock. */
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

/* Largest age of the last tick. Beyond it the result is uncertain, so the module records. */
#define PXTU_TICK_MAX	50000000U

/*
 * Asks the C library for CLOCK_REALTIME. CLOCK_MONOTONIC would be another clock in a time
 * namespace, which a process can enter by setns() at any time.
 */
static inline bool pxtu_clock_ask(const struct posixtrace_clock *clock, __u64 *time)
{
	/* As in pxtu_clock_count(). */
	__u32 seq = pxtu_load_acquire(&clock->seq);
	struct timespec real = { 0 };
	__u64 tick, mono;

	tick = pxtu_load(&clock->base) + (pxtu_load(&clock->fraction) >> POSIXTRACE_CLOCK_SHIFT);
	clock_gettime(CLOCK_REALTIME, &real);
	mono = (__u64)real.tv_sec * 1000000000U + (__u64)real.tv_nsec -
	       (__u64)pxtu_load(&clock->wall);
	*time = mono + (__u64)pxtu_load(&clock->offset);
	/* As in pxtu_clock_count(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (seq & 1 || pxtu_load(&clock->seq) != seq)
		return false;
	/*
	 * When the clock is set, the vDSO changes shortly before this page. Between the two
	 * changes, the result is usually far from the last tick.
	 */
	return mono - tick < PXTU_TICK_MAX;
}

/**
 * pxtu_clock_now() - get the time for a timestamp
 * @clock: in the gate of this process
 * @time: result, nanoseconds since the Epoch
 *
 * Usually without a system call.
 *
 * Return: false, and @time is invalid, if the kernel is changing the clock or the last tick
 * is too old.
 */
static inline bool pxtu_clock_now(const struct posixtrace_clock *clock, __u64 *time)
{
	return pxtu_likely(pxtu_clock_count(clock, time)) || pxtu_clock_ask(clock, time);
}

#endif /* PXTU_CLOCK_H */
