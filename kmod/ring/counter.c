// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the parameters of the kernel's clocks whenever the timekeeper changes them.
 *
 * Writers that read the CPU's counter compute CLOCK_MONOTONIC from it. They use the parameters of
 * the vDSO, which are updated at the same time, so that writers and the vDSO compute the same
 * nanosecond. The vDSO itself does more than needed here: other clocks, time namespaces, seconds.
 *
 * CLOCK_REALTIME needs only an additional offset. It is up to date when clock_settime() returns,
 * and when a machine has resumed.
 */
#include <linux/clocksource.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>

#include <linux/posixtrace.h>

#include "ring/clockstate.h"
#include "ring/counter.h"

/*
 * The clock to write. The pointer changes only while the notifier is not registered. The clock has
 * two writers: the notifier, which runs under the lock of the timekeeper and therefore never
 * concurrently, and pxt_counter_end() after it has unregistered the notifier.
 */
static struct posixtrace_clock *pxt_counter_clock;

/*
 * Convert from the units of the timekeeper to the units of posixtrace_clock.fraction, which are the
 * same for all counters, so that writers do not need a variable shift. A counter slow enough to
 * have smaller units is not used.
 */
static u64 to_units(u64 value, const struct tk_read_base *tkr)
{
	return tkr->shift <= POSIXTRACE_CLOCK_SHIFT ?
	       value << (POSIXTRACE_CLOCK_SHIFT - tkr->shift) :
	       value >> (tkr->shift - POSIXTRACE_CLOCK_SHIFT);
}

/* Does a cycle take at most this many nanoseconds? */
static bool is_fast(const struct tk_read_base *tkr, u64 nanoseconds)
{
	return tkr->shift <= POSIXTRACE_CLOCK_SHIFT &&
	       to_units(tkr->mult, tkr) <= nanoseconds << POSIXTRACE_CLOCK_SHIFT;
}

/*
 * Accept only counters that the vDSO uses. It avoids counters that the kernel must trap or read
 * repeatedly, as on some arm64 CPUs.
 */
static u32 counter_of(const struct tk_read_base *tkr)
{
	const struct clocksource *source = tkr->clock;

#if defined(CONFIG_X86_64)
	/* Exclude the clocks of hypervisors: their time needs more than the counter. */
	if (source->vdso_clock_mode == VDSO_CLOCKMODE_TSC &&
	    source->mask == CLOCKSOURCE_MASK(64) && is_fast(tkr, 2))
		return POSIXTRACE_COUNTER_TSC;
#elif defined(CONFIG_ARM64)
	/* The counter has at least 56 bits and at most 1 GHz, so it never wraps. */
	if ((source->vdso_clock_mode == VDSO_CLOCKMODE_ARCHTIMER ||
	     source->vdso_clock_mode == VDSO_CLOCKMODE_ARCHTIMER_NOCOMPAT) &&
	    source->mask >= CLOCKSOURCE_MASK(56) && is_fast(tkr, NSEC_PER_USEC))
		return POSIXTRACE_COUNTER_CNTVCT;
#endif
	return POSIXTRACE_COUNTER_NONE;
}

/*
 * Runs in each tick and when the clock is set, with the lock of the timekeeper. The wall clock may
 * go backward, but the offset never does.
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
	 * Pairs with the fence in pxtu_clock_count(), before it reads seq again, and with the
	 * barrier in pxt_clock_now_fast(): if a reader has read one of the members below, it finds
	 * that seq has changed.
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
	/*
	 * Pairs with the first, acquiring read of seq in pxtu_clock_count() and
	 * pxt_clock_now_fast(): after a reader has read this seq, it reads the members above with
	 * these values or newer ones.
	 */
	smp_wmb();
	WRITE_ONCE(clock->seq, seq + 2);
	pxt_clockstate_note(tk, clock->offset);
	return NOTIFY_DONE;
}

static struct notifier_block pxt_counter_block = {
	.notifier_call = counter_changed,
};

/**
 * pxt_counter_begin() - start to update a clock
 * @clock: updated from now on; its @offset is the initial one
 *
 * Not called again before pxt_counter_end(). Context: may sleep.
 */
void pxt_counter_begin(struct posixtrace_clock *clock)
{
	pxt_counter_clock = clock;
	pvclock_gtod_register_notifier(&pxt_counter_block);
}

/**
 * pxt_counter_end() - stop updating the clock
 *
 * A late reader of the clock falls back to CLOCK_REALTIME. Context: may sleep.
 */
void pxt_counter_end(void)
{
	struct posixtrace_clock *clock = pxt_counter_clock;

	pvclock_gtod_unregister_notifier(&pxt_counter_block);
	WRITE_ONCE(clock->seq, clock->seq + 1);
	/* As in counter_changed(): the members change after this. */
	smp_wmb();
	WRITE_ONCE(clock->cycle_last, POSIXTRACE_CYCLE_NONE);
	WRITE_ONCE(clock->counter, POSIXTRACE_COUNTER_NONE);
	/* As in counter_changed(): the members have changed. */
	smp_wmb();
	WRITE_ONCE(clock->seq, clock->seq + 1);
}
