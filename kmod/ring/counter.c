// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's clocks are made from, when it changes that.
 *
 * Of CLOCK_MONOTONIC, for those who read the counter of the CPU themselves: the same
 * numbers that the vDSO has, and as young, so that they come to the same nanosecond. The
 * vDSO itself has to look at more than we need: other clocks, time namespaces, seconds.
 *
 * Of CLOCK_REALTIME, how much later it is: when clock_settime() returns, or a machine
 * that slept goes on, whoever takes a time finds the new number.
 */
#include <linux/clocksource.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>

#include <linux/posixtrace.h>

#include "ring/clock.h"

/*
 * Where to write it. Set before the notifier is registered and after it is not; the
 * only writers of what is there are the notifier, which the lock of the timekeeper
 * keeps from running twice at once, and pxt_counter_end() when it is gone.
 */
static struct posixtrace_clock *pxt_counter_clock;

static u32 counter_of(const struct clocksource *source)
{
#ifdef CONFIG_X86_64
	/* Not the clocks of hypervisors, which are more than the counter. */
	if (source->vdso_clock_mode == VDSO_CLOCKMODE_TSC && source->mask == CLOCKSOURCE_MASK(64))
		return POSIXTRACE_COUNTER_TSC;
#endif
	return POSIXTRACE_COUNTER_NONE;
}

/*
 * Runs in each tick, and when the clock is set, with the timekeeper's lock. The wall clock
 * may have gone back: we never do.
 */
static int counter_changed(struct notifier_block *block, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;
	const struct tk_read_base *tkr = &tk->tkr_mono;
	struct posixtrace_clock *clock = pxt_counter_clock;
	s64 wall = ktime_to_ns(tk->offs_real);
	u32 seq = clock->seq;

	WRITE_ONCE(clock->seq, seq + 1);
	/* Pair with the acquire of the first look at seq and the fence before the second. */
	smp_wmb();
	WRITE_ONCE(clock->wall, wall);
	if (wall > clock->offset)
		WRITE_ONCE(clock->offset, wall);
	WRITE_ONCE(clock->counter, counter_of(tkr->clock));
	WRITE_ONCE(clock->cycle_last, tkr->cycle_last);
	WRITE_ONCE(clock->base, ktime_to_ns(tkr->base));
	WRITE_ONCE(clock->fraction, tkr->xtime_nsec);
	WRITE_ONCE(clock->mult, tkr->mult);
	WRITE_ONCE(clock->shift, tkr->shift);
	/* The second of the pair. */
	smp_wmb();
	WRITE_ONCE(clock->seq, seq + 2);
	return NOTIFY_DONE;
}

static struct notifier_block pxt_counter_block = {
	.notifier_call = counter_changed,
};

/**
 * pxt_counter_begin() - write to a clock from now on, and now
 * @clock: whose members are ours from now on; @offset is what it begins with
 *
 * Not called again before pxt_counter_end(). Context: may sleep.
 */
void pxt_counter_begin(struct posixtrace_clock *clock)
{
	pxt_counter_clock = clock;
	pvclock_gtod_register_notifier(&pxt_counter_block);
}

/**
 * pxt_counter_end() - stop it
 *
 * Whoever reads the clock nevertheless asks for CLOCK_REALTIME. Context: may sleep.
 */
void pxt_counter_end(void)
{
	struct posixtrace_clock *clock = pxt_counter_clock;

	pvclock_gtod_unregister_notifier(&pxt_counter_block);
	WRITE_ONCE(clock->seq, clock->seq + 1);
	/* As above. */
	smp_wmb();
	WRITE_ONCE(clock->counter, POSIXTRACE_COUNTER_NONE);
	/* Likewise. */
	smp_wmb();
	WRITE_ONCE(clock->seq, clock->seq + 1);
}
