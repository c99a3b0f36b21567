// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the timestamps: CLOCK_REALTIME in nanoseconds, but never going back.
 *
 * It is the monotonic clock plus an offset. When the wall clock steps forward, counter.c moves the
 * offset immediately; a step backward takes effect only when no stream exists. The order within a
 * stream is therefore never broken.
 */
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/processor.h>
#include <linux/timekeeping.h>

#include <linux/posixtrace.h>

#include "ring/clock.h"
#include "ring/counter.h"

/* Guards pxt_clock_users. */
static DEFINE_MUTEX(pxt_clock_lock);
static unsigned int pxt_clock_users;

/*
 * The kernel and all mappings share this page, so that a process never sees an old offset after it
 * has seen an event with a new one. While there are users, only counter.c writes it.
 */
struct posixtrace_clock *pxt_clock_page;

/**
 * pxt_clock_get() - start using the clock for a stream
 *
 * The first stream synchronizes the clock with the wall clock. Context: may sleep.
 */
void pxt_clock_get(void)
{
	mutex_lock(&pxt_clock_lock);
	if (!pxt_clock_users++) {
		WRITE_ONCE(pxt_clock_page->offset, ktime_to_ns(ktime_mono_to_real(0)));
		pxt_counter_begin(pxt_clock_page);
	}
	mutex_unlock(&pxt_clock_lock);
}

/**
 * pxt_clock_put() - stop using the clock for a stream
 *
 * Context: may sleep.
 */
void pxt_clock_put(void)
{
	mutex_lock(&pxt_clock_lock);
	if (!--pxt_clock_users)
		pxt_counter_end();
	mutex_unlock(&pxt_clock_lock);
}

/**
 * pxt_clock_now() - get the time for a timestamp
 *
 * Context: any but NMI.
 * Return: nanoseconds since the Epoch, never less than any value returned earlier on any CPU while
 * a stream existed.
 */
u64 pxt_clock_now(void)
{
	/*
	 * Pairs with WRITE_ONCE() in counter_changed(). An old or a new offset will do, because the
	 * offset never goes back.
	 */
	return ktime_get_ns() + READ_ONCE(pxt_clock_page->offset);
}

/* pxt_clock_now() for pxt_clock_now_fast(). */
u64 pxt_clock_now_slow(void)
{
	return pxt_clock_now();
}

/**
 * pxt_clock_pass() - wait until the clock is past a time
 * @time: returned by pxt_clock_now()
 *
 * Returns immediately unless the clock is coarse. Context: may be preempted.
 */
void pxt_clock_pass(u64 time)
{
	while (pxt_clock_now() <= time)
		cpu_relax();
}

/**
 * pxt_clock_resolution() - get the resolution reported by clock_getres(CLOCK_REALTIME)
 *
 * Return: nanoseconds.
 */
u32 pxt_clock_resolution(void)
{
	return hrtimer_resolution;
}

/**
 * pxt_clock_counter() - get the counter that traced processes read for timestamps
 *
 * Return: POSIXTRACE_COUNTER_*; it may change at any time.
 */
u32 pxt_clock_counter(void)
{
	return READ_ONCE(pxt_clock_page->counter);
}

/**
 * pxt_clock_map() - get the page that targets map
 *
 * Return: the page with struct posixtrace_clock.
 */
struct page *pxt_clock_map(void)
{
	return virt_to_page(pxt_clock_page);
}

/**
 * pxt_clock_init() - allocate the clock, without users
 *
 * Return: 0 or -ENOMEM.
 */
int pxt_clock_init(void)
{
	BUILD_BUG_ON(sizeof(*pxt_clock_page) > PAGE_SIZE);
	pxt_clock_page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!pxt_clock_page)
		return -ENOMEM;
	pxt_clock_page->cycle_last = POSIXTRACE_CYCLE_NONE;
	return 0;
}

/**
 * pxt_clock_exit() - free the clock; it has no users
 */
void pxt_clock_exit(void)
{
	free_page((unsigned long)pxt_clock_page);
}
