// SPDX-License-Identifier: GPL-2.0
/*
 * Tells tracepoints which tasks are not traced, in a few instructions: a count for each bucket of
 * processes, and a mark for each CPU that is valid until it switches to another task. Whether a
 * task is traced, and by which streams, is decided in stream/kevent.c.
 */
#include <linux/cpumask.h>

#include "target/interest.h"

atomic_t pxt_interest_counts[1 << PXT_INTEREST_BITS];
DEFINE_PER_CPU(bool, pxt_interest_here);

static atomic_t *count_of(const struct pid *pid)
{
	return &pxt_interest_counts[hash_ptr(pid, PXT_INTEREST_BITS)];
}

/**
 * pxt_interest_switched() - this CPU switches to another task
 * @next: the task
 *
 * Only needed if pxt_interest_in_switch() was true. Context: interrupts are off.
 */
void pxt_interest_switched(struct task_struct *next)
{
	__this_cpu_write(pxt_interest_here, false);
	/*
	 * Clear the mark, then look at the count. Pairs with the barrier in pxt_interest_add(): if
	 * this does not see the new count, that mark comes after this one.
	 */
	smp_mb();
	if (pxt_interest_in(next))
		__this_cpu_write(pxt_interest_here, true);
}

/**
 * pxt_interest_add() - a process is traced by one more stream with events of the kernel
 * @pid: of its thread group
 */
void pxt_interest_add(const struct pid *pid)
{
	int cpu;

	atomic_inc(count_of(pid));
	/* Count, then mark the CPUs that may run the process: see pxt_interest_switched(). */
	smp_mb__after_atomic();
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(pxt_interest_here, cpu), true);
}

/**
 * pxt_interest_remove() - a process is traced by one such stream less
 * @pid: of its thread group
 */
void pxt_interest_remove(const struct pid *pid)
{
	atomic_dec(count_of(pid));
}
