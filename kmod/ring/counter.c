// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the parameters of the kernel's clocks whenever the timekeeper changes them.
 *
 * Of CLOCK_MONOTONIC, for writers that read the counter of the CPU: the numbers that the
 * vDSO has, updated at the same moments, so that both compute the same nanosecond. The vDSO
 * itself does more than we need: other clocks, time namespaces, seconds.
 *
 * Of CLOCK_REALTIME, how far it is ahead: when clock_settime() returns, or a machine
 * resumes, the next reader of the clock finds the new offset.
 */
#include <linux/clocksource.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>

#include <linux/posixtrace.h>

#include "ring/counter.h"

/*
 * The clock to write. The pointer changes only while the notifier is not registered. Two
 * write the clock: the notifier, which runs under the lock of the timekeeper and so never
 * twice at once, and pxt_counter_end() after it has unregistered the notifier.
 */
static struct posixtrace_clock *pxt_counter_clock;

/*
 * From the units of the timekeeper to ours, which are the same for all counters: writers need no
 * variable shift then. A counter that is slow enough to have smaller units is not used.
 */
static u64 to_units(u64 value, const struct tk_read_base *tkr)
{
	return tkr->shift <= POSIXTRACE_CLOCK_SHIFT ?
	       value << (POSIXTRACE_CLOCK_SHIFT - tkr->shift) :
	       value >> (tkr->shift - POSIXTRACE_CLOCK_SHIFT);
}

/* A cycle takes so many nanoseconds at most. */
static bool is_fast(const struct tk_read_base *tkr, u64 nanoseconds)
{
	return tkr->shift <= POSIXTRACE_CLOCK_SHIFT &&
	       to_units(tkr->mult, tkr) <= nanoseconds << POSIXTRACE_CLOCK_SHIFT;
}

/*
 * Only counters that the vDSO uses. It does not where the kernel has to trap or repeat their
 * reads, which is so on some arm64 CPUs.
 */
static u32 counter_of(const struct tk_read_base *tkr)
{
	const struct clocksource *source = tkr->clock;

#if defined(CONFIG_X86_64)
	/* Not the clocks of hypervisors, which compute more than the counter. */
	if (source->vdso_clock_mode == VDSO_CLOCKMODE_TSC &&
	    source->mask == CLOCKSOURCE_MASK(64) && is_fast(tkr, 2))
		return POSIXTRACE_COUNTER_TSC;
#elif defined(CONFIG_ARM64)
	/* It has 56 bits at least, at most a gigahertz, and so never begins again. */
	if ((source->vdso_clock_mode == VDSO_CLOCKMODE_ARCHTIMER ||
	     source->vdso_clock_mode == VDSO_CLOCKMODE_ARCHTIMER_NOCOMPAT) &&
	    source->mask >= CLOCKSOURCE_MASK(56) && is_fast(tkr, NSEC_PER_USEC))
		return POSIXTRACE_COUNTER_CNTVCT;
#endif
	return POSIXTRACE_COUNTER_NONE;
}

/*
 * Runs in each tick, and when the clock is set, with the lock of the timekeeper. The wall
 * clock may have gone back: the offset never does.
 */
static int counter_changed(struct notifier_block *block, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;
	const struct tk_read_base *tkr = &tk->tkr_mono;
	struct posixtrace_clock *clock = pxt_counter_clock;
	s64 wall = ktime_to_ns(tk->offs_real);
	u32 counter = counter_of(tkr);
	u32 seq = clock->seq;

	WRITE_ONCE(clock->seq, seq + 1);
	/*
	 * This barrier and the next one pair with the reader: it loads seq with acquire, then
	 * the numbers, then a fence, then seq again.
	 */
	smp_wmb();
	WRITE_ONCE(clock->wall, wall);
	if (wall > clock->offset)
		WRITE_ONCE(clock->offset, wall);
	WRITE_ONCE(clock->counter, counter);
	WRITE_ONCE(clock->cycle_last, counter == POSIXTRACE_COUNTER_NONE ?
				      POSIXTRACE_CYCLE_NONE : tkr->cycle_last);
	WRITE_ONCE(clock->base, ktime_to_ns(tkr->base));
	WRITE_ONCE(clock->real, ktime_to_ns(tkr->base) + clock->offset);
	WRITE_ONCE(clock->fraction, to_units(tkr->xtime_nsec, tkr));
	WRITE_ONCE(clock->mult, to_units(tkr->mult, tkr));
	/* See above. */
	smp_wmb();
	WRITE_ONCE(clock->seq, seq + 2);
	return NOTIFY_DONE;
}

static struct notifier_block pxt_counter_block = {
	.notifier_call = counter_changed,
};

/**
 * pxt_counter_begin() - write to a clock from now on, and now
 * @clock: written from now on; its @offset is the first one
 *
 * Not called again before pxt_counter_end(). Context: may sleep.
 */
void pxt_counter_begin(struct posixtrace_clock *clock)
{
	pxt_counter_clock = clock;
	pvclock_gtod_register_notifier(&pxt_counter_block);
}

/**
 * pxt_counter_end() - stop writing the clock
 *
 * A late reader of the clock falls back to CLOCK_REALTIME. Context: may sleep.
 */
void pxt_counter_end(void)
{
	struct posixtrace_clock *clock = pxt_counter_clock;

	pvclock_gtod_unregister_notifier(&pxt_counter_block);
	WRITE_ONCE(clock->seq, clock->seq + 1);
	/* As in counter_changed(). */
	smp_wmb();
	WRITE_ONCE(clock->cycle_last, POSIXTRACE_CYCLE_NONE);
	WRITE_ONCE(clock->counter, POSIXTRACE_COUNTER_NONE);
	/* As in counter_changed(). */
	smp_wmb();
	WRITE_ONCE(clock->seq, clock->seq + 1);
}
