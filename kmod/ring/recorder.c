// SPDX-License-Identifier: GPL-2.0
/*
 * Records the kernel's events: per CPU, into sub-buffers that no process maps for writing. Which
 * events, and what is in them, is decided in stream/kevent.c.
 *
 * The callers are tracepoints, some of them inside the scheduler with the lock of a run queue. So
 * a record takes two raw locks at most, allocates nothing and wakes no task: an irq_work does what
 * has to follow.
 */
#include <linux/irq_work.h>
#include <linux/smp.h>

#include "ring/clock.h"
#include "ring/recorder.h"
#include "ring/subbuf.h"

static void drop(struct pxt_pool *pool, u32 cpu, u32 class)
{
	struct posixtrace_cpu_head *head = &pool->kernel_heads[cpu];

	lockdep_assert_held(&pool->recorder->cpu[cpu].lock);
	pool->recorder->cpu[cpu].dropped[class]++;
	/* The reader, and GET_STATUS, read it without the lock. */
	WRITE_ONCE(head->lost, head->lost + 1);
}

/* In the open sub-buffer of this CPU. False if it has no room. */
static bool commit(struct pxt_pool *pool, u32 cpu, struct pxt_entry *entry, const void *data)
{
	struct pxt_reservation res;

	/* The clock is read with the lock: no record is older than its sub-buffer. */
	pxt_entry_set_time(entry, pxt_clock_now());
	if (!pxt_subbuf_reserve(pool, pxt_pool_kernel_writer(pool, cpu), entry, &res))
		return false;
	pxt_subbuf_commit(&res, entry, data);
	return true;
}

static unsigned long write_record(struct pxt_pool *pool, u32 cpu, u32 class,
				  struct pxt_entry *entry, const void *data)
{
	unsigned long todo = 0;
	int err = 0;

	/*
	 * Pairs with the synchronization after pxt_subbuf_set_full(), which takes the lock of this
	 * CPU: then no sub-buffer is written.
	 */
	if (READ_ONCE(pool->full) || READ_ONCE(pool->kernel_full)) {
		drop(pool, cpu, class);
		return 0;
	}
	if (!commit(pool, cpu, entry, data)) {
		err = pxt_subbuf_next_kernel(pool, pxt_pool_kernel_writer(pool, cpu));
		todo |= err ? 0 : BIT(PXT_RECORDER_CLOSED);
		/* A whole sub-buffer has room for any record. */
		if (!err)
			commit(pool, cpu, entry, data);
	}
	if (err) {
		drop(pool, cpu, class);
		return err == -ENOBUFS ? BIT(PXT_RECORDER_FULL) : 0;
	}
	pool->recorder->cpu[cpu].recorded[class]++;
	/*
	 * After the commit: pairs with the barrier of a reader between setting need_wakeup and
	 * looking for records, in pxt_synchronize_look() or set_current_state(). One of the two
	 * sees the other. User events need no such barrier, as the reader interrupts their writers.
	 */
	smp_mb();
	if (READ_ONCE(pool->need_wakeup))
		todo |= BIT(PXT_RECORDER_WAKE);
	return todo;
}

/**
 * pxt_recorder_record() - record an event of the kernel
 * @pool: of a stream that was found under RCU; it has a recorder
 * @class: number of its class
 * @entry: the record, which gets its time; its size is at most a sub-buffer
 * @data: entry->record.data_len bytes
 * @mask: bits PXT_RECORDER_* that matter for this event
 *
 * If it finds no place, it is counted as dropped. Context: any but NMI; locks of the scheduler may
 * be held.
 */
void pxt_recorder_record(struct pxt_pool *pool, u32 class, struct pxt_entry *entry,
			 const void *data, unsigned long mask)
{
	struct pxt_recorder *recorder = pool->recorder;
	struct pxt_recorder_cpu *this_cpu;
	unsigned long flags, todo = 0;
	u32 cpu;

	/* Also keeps a tracepoint in an interrupt out, and the task on this CPU. */
	local_irq_save(flags);
	cpu = smp_processor_id();
	this_cpu = &recorder->cpu[cpu];
	raw_spin_lock(&this_cpu->lock);
	/* Pairs with the release in pxt_recorder_want(): the clock is past START. */
	if (smp_load_acquire(&recorder->wanted) &
	    BIT_ULL(POSIXTRACE_RECORD_ID(entry->record.type)))
		todo = write_record(pool, cpu, class, entry, data) & mask;
	/* With the lock: when no event is wanted any more, a synchronization ends the queueing. */
	if (todo) {
		atomic_long_or(todo, recorder->todo);
		/* Orders both: the work takes what was set before. */
		irq_work_queue(recorder->irq);
	}
	raw_spin_unlock(&this_cpu->lock);
	local_irq_restore(flags);
}
