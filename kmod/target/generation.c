// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of gates, and of the conditions in them. The library caches by these numbers, and a child
 * finds the cache of its parent in memory, so numbers are unique over all gates.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "target/generation.h"

/* The last number assigned. */
static atomic64_t generations;

/**
 * pxt_generation_init() - start with a generation unused since boot
 *
 * An orphaned child still has its parent's cache in memory, even across rmmod and insmod: never
 * reuse a generation.
 */
void pxt_generation_init(void)
{
	atomic64_set(&generations, ktime_get_boottime_ns());
}

/**
 * pxt_generation_next() - get a new generation
 *
 * The lower half is never zero: trace points that are not registered yet read only that half, and
 * zero means to them that no stream has ever traced the process.
 *
 * Return: a number that no gate has had since boot. A full barrier precedes the return.
 */
u64 pxt_generation_next(void)
{
	u64 generation;

	do {
		generation = atomic64_inc_return(&generations);
	} while (!lower_32_bits(generation));
	return generation;
}

/**
 * pxt_generation_number() - get a number for a condition in a gate
 *
 * The number is the lower half of a generation, so it comes back after 2^32 of them, and may come
 * back after rmmod and insmod. A process whose memory still has it then measures one scope wrong.
 *
 * Return: a number that is not 0, and that differs from the last 2^32 - 2 numbers.
 */
u32 pxt_generation_number(void)
{
	return lower_32_bits(pxt_generation_next());
}
