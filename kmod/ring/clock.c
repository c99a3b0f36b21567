// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the timestamps: nanoseconds of CLOCK_REALTIME that never go back.
 *
 * It is the monotonic clock plus an offset. A step of the wall clock moves the
 * offset, forward at once (counter.c), backward only when there is no stream: so
 * the order in a stream never breaks. Does not know of streams otherwise.
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

/* Guards pxt_clock_users. */
static DEFINE_MUTEX(pxt_clock_lock);
static unsigned int pxt_clock_users;

/*
 * One for us and for all who have mapped it, so that nobody sees an old value who was
 * told of an event with a new one. With users, only counter.c writes it.
 */
static struct posixtrace_clock *pxt_clock_page;

/**
 * pxt_clock_get() - a stream begins to use the clock
 *
 * The first one sets it to the wall clock. Context: may sleep.
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
 * pxt_clock_put() - a stream is gone
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
 * pxt_clock_now() - the time for a timestamp
 *
 * Context: any but NMI.
 * Return: nanoseconds since the Epoch, never less than any value that was
 * returned before on any CPU while there was a stream.
 */
u64 pxt_clock_now(void)
{
	/* Pairs with WRITE_ONCE() in counter_changed(): any mix of old and new is in order. */
	return ktime_get_ns() + READ_ONCE(pxt_clock_page->offset);
}

/**
 * pxt_clock_pass() - come back when it is later than that
 * @time: which pxt_clock_now() returned
 *
 * At once, but where the clock is a coarse one. Context: may be preempted.
 */
void pxt_clock_pass(u64 time)
{
	while (pxt_clock_now() <= time)
		cpu_relax();
}

/**
 * pxt_clock_resolution() - what clock_getres(CLOCK_REALTIME) says
 *
 * Return: nanoseconds.
 */
u32 pxt_clock_resolution(void)
{
	return hrtimer_resolution;
}

/**
 * pxt_clock_map() - what targets map
 *
 * Return: the page with struct posixtrace_clock.
 */
struct page *pxt_clock_map(void)
{
	return virt_to_page(pxt_clock_page);
}

/**
 * pxt_clock_init() - a clock that nobody uses
 *
 * Return: 0 or -ENOMEM.
 */
int pxt_clock_init(void)
{
	BUILD_BUG_ON(sizeof(*pxt_clock_page) > PAGE_SIZE);
	pxt_clock_page = (void *)get_zeroed_page(GFP_KERNEL);
	return pxt_clock_page ? 0 : -ENOMEM;
}

/**
 * pxt_clock_exit() - there is no clock any more
 *
 * Nobody uses it.
 */
void pxt_clock_exit(void)
{
	free_page((unsigned long)pxt_clock_page);
}
