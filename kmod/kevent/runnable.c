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
#include "ring/rawlock.h"

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
 * @now: the time, ns; 0 to read the clock
 *
 * Context: in a tracepoint of the scheduler: interrupts are off, and its locks may be held.
 */
void pxt_runnable_begin(struct task_struct *task, u64 now)
{
	struct runnable *place = place_of(task);

	pxt_raw_lock(&place->lock);
	place->task = task;
	place->since = now ? now : pxt_clock_now_fast();
	pxt_raw_unlock(&place->lock);
}

/**
 * pxt_runnable_end() - note that a thread got a CPU
 * @task: the thread
 *
 * Context: in a tracepoint of the scheduler: interrupts are off, and its locks may be held.
 *
 * Return: when it started to wait, ns; 0 if unknown. If an earlier thread had the same struct
 * task_struct and was no longer traced when it got a CPU, the time may be from that thread.
 */
u64 pxt_runnable_end(struct task_struct *task)
{
	struct runnable *place = place_of(task);
	u64 since = 0;

	pxt_raw_lock(&place->lock);
	if (place->task == task) {
		since = place->since;
		place->task = NULL;
	}
	pxt_raw_unlock(&place->lock);
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
