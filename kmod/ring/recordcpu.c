// SPDX-License-Identifier: GPL-2.0
/*
 * The state for recording kernel events on each CPU: locks, counters, and wanted types. recorder.h
 * and recorder.c write the records.
 *
 * A synchronization with these writers takes and releases the lock of each CPU. It does not
 * interrupt CPUs.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ring/pool.h"
#include "ring/recorder.h"

const u64 pxt_recorder_nothing;

/* The need_wakeup of events that wake no reader. */
static const bool wakes_none;

/**
 * pxt_recorder_new() - create a recorder without wanted events
 * @nr_cpus: CPUs of the stream
 * @gfp: allocation flags
 *
 * Context: may sleep.
 * Return: the recorder, or NULL.
 */
struct pxt_recorder *pxt_recorder_new(u32 nr_cpus, gfp_t gfp)
{
	struct pxt_recorder *recorder;
	u32 cpu;

	recorder = kvzalloc(struct_size(recorder, cpu, nr_cpus), gfp);
	if (!recorder)
		return NULL;
	recorder->nr_cpus = nr_cpus;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		raw_spin_lock_init(&recorder->cpu[cpu].lock);
	return recorder;
}

/**
 * pxt_recorder_free() - free a recorder after a grace period
 * @recorder: wants no events; tracepoints find it only under RCU
 */
void pxt_recorder_free(struct pxt_recorder *recorder)
{
	kvfree_rcu(recorder, rcu);
}

/**
 * pxt_recorder_synchronize() - wait until all CPUs have seen a change
 * @recorder: recorder of a stream
 *
 * On return, no CPU still records with the state before the change.
 */
void pxt_recorder_synchronize(struct pxt_recorder *recorder)
{
	unsigned long flags;
	u32 cpu;

	for (cpu = 0; cpu < recorder->nr_cpus; cpu++) {
		raw_spin_lock_irqsave(&recorder->cpu[cpu].lock, flags);
		raw_spin_unlock_irqrestore(&recorder->cpu[cpu].lock, flags);
	}
}

/**
 * pxt_recorder_want() - choose the event types to record
 * @recorder: recorder of a stream
 * @wanted: bit n: record event type n
 *
 * On return, no CPU records an event type that is no longer wanted.
 */
void pxt_recorder_want(struct pxt_recorder *recorder, u64 wanted)
{
	if (recorder->wanted == wanted)
		return;
	/* Pairs with the acquire in pxt_kevent_into(). */
	smp_store_release(&recorder->wanted, wanted);
	pxt_recorder_synchronize(recorder);
}

/**
 * pxt_recorder_use() - prepare to record the events of a thread
 * @by: result
 * @pool: with a recorder
 * @cpu: this CPU
 * @pid: process id of the thread, for the controller
 * @tid: thread id, for the controller
 * @wakes: its events wake readers
 */
void pxt_recorder_use(struct pxt_recorder_thread *by, struct pxt_pool *pool, u32 cpu, s32 pid,
		      s32 tid, bool wakes)
{
	u32 number = (u32)tid % POSIXTRACE_KTHREADS_MAX;

	by->pool = pool;
	by->wanted = &pool->recorder->wanted;
	by->cpu = &pool->recorder->cpu[cpu];
	by->head = &pool->kernel_heads[cpu];
	by->need_wakeup = wakes ? &pool->wake.need_wakeup : &wakes_none;
	by->thread.pid = pid;
	by->thread.tid = tid;
	by->thread.thread_id = 0;
	by->known = &by->cpu->thread[number];
	by->number = number << POSIXTRACE_KHEAD_THREAD_SHIFT;
}

/**
 * pxt_recorder_clear() - reset the event counters
 * @pool: has a recorder, and is not dead; its stream is locked, and its sub-buffers were freed
 */
void pxt_recorder_clear(struct pxt_pool *pool)
{
	struct pxt_recorder *recorder = pool->recorder;
	struct pxt_recorder_cpu *this_cpu;
	unsigned long flags;
	u32 cpu;

	for (cpu = 0; cpu < recorder->nr_cpus; cpu++) {
		this_cpu = &recorder->cpu[cpu];
		raw_spin_lock_irqsave(&this_cpu->lock, flags);
		pxt_recorder_leave(this_cpu);
		memset(this_cpu->recorded, 0, sizeof(this_cpu->recorded));
		memset(this_cpu->dropped, 0, sizeof(this_cpu->dropped));
		WRITE_ONCE(pool->kernel_heads[cpu].lost, 0);
		raw_spin_unlock_irqrestore(&this_cpu->lock, flags);
	}
}

/**
 * pxt_recorder_count() - count the events of each class
 * @pool: has a recorder, and is not dead; its stream is locked
 * @stats: result; zeroed by the caller
 */
void pxt_recorder_count(struct pxt_pool *pool, struct posixtrace_kernel_stats *stats)
{
	struct pxt_recorder *recorder = pool->recorder;
	const struct pxt_recorder_cpu *this_cpu;
	unsigned long flags;
	u32 cpu, class;

	for (cpu = 0; cpu < recorder->nr_cpus; cpu++) {
		this_cpu = &recorder->cpu[cpu];
		raw_spin_lock_irqsave(&recorder->cpu[cpu].lock, flags);
		for (class = 0; class < POSIXTRACE_CLASSES_MAX; class++) {
			stats->recorded[class] += this_cpu->recorded[class];
			stats->dropped[class] += this_cpu->dropped[class];
		}
		raw_spin_unlock_irqrestore(&recorder->cpu[cpu].lock, flags);
	}
	raw_spin_lock_irqsave(&pool->lock, flags);
	stats->overwritten = pool->gaps.lost_kernel;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}
