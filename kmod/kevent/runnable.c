// SPDX-License-Identifier: GPL-2.0
/*
 * Records since when threads are runnable, without a field in struct task_struct. Uses a small
 * table: if two runnable threads need the same entry, the older time is dropped and reported as
 * unknown.
 */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>

#include "kevent/runnable.h"
#include "ring/clock.h"

#define RUNNABLE_BITS	11

/**
 * struct runnable - a thread waiting for a CPU
 * @lock: guards the rest; interrupts are off, scheduler locks may be held; innermost
 * @task: the thread, only to be compared
 * @since: time it was woken or preempted, ns
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
 * pxt_runnable_begin() - note that a thread starts to wait for a CPU
 * @task: the thread
 *
 * Context: in a tracepoint; scheduler locks may be held.
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
 * pxt_runnable_end() - note that a thread got a CPU
 * @task: the thread
 *
 * Context: in a tracepoint; scheduler locks may be held.
 *
 * Return: when it started to wait, ns; 0 if unknown. May be the time of an earlier thread that was
 * not traced when it ran again.
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
 * pxt_runnable_init() - initialize the table
 */
void pxt_runnable_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		raw_spin_lock_init(&places[i].lock);
}
