/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_INTEREST_H
#define PXT_INTEREST_H

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>

#define PXT_INTEREST_BITS	10

/*
 * For each bucket of processes: how many of them are traced by streams with events of the kernel.
 * gate.c changes it with the lock of a table; tracepoints read it without a lock.
 */
extern atomic_t pxt_interest_counts[1 << PXT_INTEREST_BITS];

/*
 * May the task on this CPU be of interest? sched_switch clears it on its own CPU,
 * pxt_interest_add() sets it on all CPUs.
 */
DECLARE_PER_CPU(bool, pxt_interest_here);

/* May this task be of interest? It is not if the answer is no. A task that has ended has no pid. */
static inline bool pxt_interest_in(struct task_struct *task)
{
	return atomic_read(&pxt_interest_counts[hash_ptr(task_tgid(task), PXT_INTEREST_BITS)]);
}

/* Is a switch from the task on this CPU to @next of interest? Interrupts are off. */
static inline bool pxt_interest_in_switch(struct task_struct *next)
{
	return __this_cpu_read(pxt_interest_here) || pxt_interest_in(next);
}

void pxt_interest_switched(struct task_struct *next);
void pxt_interest_add(const struct pid *pid);
void pxt_interest_remove(const struct pid *pid);

#endif /* PXT_INTEREST_H */
