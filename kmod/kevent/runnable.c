// SPDX-License-Identifier: GPL-2.0
/*
 * Since when threads have been runnable, without a place in struct task_struct. A small table: if
 * two runnable threads need the same place, the older time is forgotten, and is reported as
 * unknown.
 */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>

#include "kevent/runnable.h"
#include "ring/clock.h"

#define RUNNABLE_BITS	11

/**
 * struct runnable - a thread that waits for a CPU
 * @lock: guards the rest; interrupts are off, locks of the scheduler may be held; innermost
 * @task: the thread, only to be compared
 * @since: when it was woken or preempted, ns
 */
struct runnable {
	raw_spinlock_t lock;
	const struct task_struct *task;
	u64 since;
};

static struct runnable places[1 << RUNNABLE_BITS];

static struct runnable *place_of(const struct task_struct *task)
{
	return &places[hash_ptr(task, RUNNABLE_BITS)];
}

/**
 * pxt_runnable_begin() - a thread waits for a CPU from now on
 * @task: the thread
 *
 * Context: in a tracepoint; locks of the scheduler may be held.
 */
void pxt_runnable_begin(struct task_struct *task)
{
	struct runnable *place = place_of(task);
	unsigned long flags;

	raw_spin_lock_irqsave(&place->lock, flags);
	place->task = task;
	place->since = pxt_clock_now();
	raw_spin_unlock_irqrestore(&place->lock, flags);
}

/**
 * pxt_runnable_end() - a thread has a CPU
 * @task: the thread
 *
 * Context: in a tracepoint; locks of the scheduler may be held.
 *
 * Return: when it began to wait, ns; 0 if that is not known. May be the time of an earlier thread
 * that no stream traced when it ran again.
 */
u64 pxt_runnable_end(struct task_struct *task)
{
	struct runnable *place = place_of(task);
	unsigned long flags;
	u64 since = 0;

	raw_spin_lock_irqsave(&place->lock, flags);
	if (place->task == task) {
		since = place->since;
		place->task = NULL;
	}
	raw_spin_unlock_irqrestore(&place->lock, flags);
	return since;
}

/**
 * pxt_runnable_init() - prepare the table
 */
void pxt_runnable_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		raw_spin_lock_init(&places[i].lock);
}
