// SPDX-License-Identifier: GPL-2.0
/*
 * Records kernel events: per CPU, into sub-buffers that no process maps for writing.
 * kevent/kevent.c chooses the events and their contents.
 *
 * The callers are tracepoints, some inside the scheduler with a run queue lock held. A record
 * therefore takes at most two raw locks, never allocates and never wakes a task: an irq_work does
 * the deferred work.
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
	/* The reader and GET_STATUS read it without the lock. */
	WRITE_ONCE(head->lost, head->lost + 1);
}

/*
 * Is it by the same thread as the previous record, and not too long after it? The address is always
 * 0.
 */
static bool is_same(const struct pxt_recorder_cpu *this_cpu, const struct posixtrace_writer *writer)
{
	return this_cpu->time_end > writer->time && this_cpu->pid == writer->pid &&
	       this_cpu->tid == writer->tid && this_cpu->thread_id == writer->thread_id;
}

static void note_writer(struct pxt_recorder_cpu *this_cpu, const struct posixtrace_writer *writer)
{
	this_cpu->pid = writer->pid;
	this_cpu->tid = writer->tid;
	this_cpu->thread_id = writer->thread_id;
	this_cpu->time_end = writer->time + POSIXTRACE_WRITER_SPAN;
}

/* Write to the open sub-buffer, which has room. */
static void commit(struct pxt_recorder_cpu *this_cpu, struct posixtrace_cpu_head *head,
		   const struct pxt_entry *entry, const void *data, u32 size, bool same)
{
	if (!same)
		note_writer(this_cpu, &entry->writer);
	pxt_entry_write(entry, data, same, this_cpu->mem);
	this_cpu->mem += size;
	this_cpu->room -= size;
	WRITE_ONCE(head->last, entry->writer.time);
	/* Pairs with the acquire of the reader and in pxt_reclaim_readable(). */
	smp_store_release(&head->head, head->head + POSIXTRACE_HEAD(size, 1));
}

/* Open another sub-buffer. */
static int turn(struct pxt_pool *pool, u32 cpu)
{
	struct pxt_recorder_cpu *this_cpu = &pool->recorder->cpu[cpu];
	u32 writer = pxt_pool_kernel_writer(pool, cpu);
	int err;

	pxt_recorder_leave(this_cpu);
	err = pxt_subbuf_next_kernel(pool, writer);
	if (err)
		return err;
	this_cpu->mem = pxt_pool_subbuf(pool, pool->cpu[writer].open);
	this_cpu->room = pool->subbuf_size;
	return 0;
}

/* Returns the deferred work. */
static unsigned long write_record(struct pxt_pool *pool, struct pxt_recorder_cpu *this_cpu,
				  u32 cpu, u32 class, struct pxt_entry *entry, const void *data)
{
	unsigned long todo = 0;
	bool same;
	u32 size;
	int err;

	/*
	 * Pairs with the synchronization after pxt_subbuf_set_full(), which takes the lock of this
	 * CPU: from then on sub-buffers are not written.
	 */
	if (unlikely(READ_ONCE(pool->full) || READ_ONCE(pool->kernel_full))) {
		drop(pool, cpu, class);
		return 0;
	}
	/* Read the clock with the lock held: no record is older than its sub-buffer. */
	pxt_entry_set_time(entry, pxt_clock_now());
	same = is_same(this_cpu, &entry->writer);
	size = pxt_entry_size(entry, same);
	if (unlikely(size > this_cpu->room)) {
		err = turn(pool, cpu);
		if (err) {
			drop(pool, cpu, class);
			return err == -ENOBUFS ? BIT(PXT_RECORDER_FULL) : 0;
		}
		pxt_entry_set_time(entry, pxt_clock_now());
		/*
		 * The first record includes its writer. An empty sub-buffer has room for any
		 * record.
		 */
		same = false;
		size = pxt_entry_size(entry, same);
		todo |= BIT(PXT_RECORDER_CLOSED);
	}
	commit(this_cpu, &pool->kernel_heads[cpu], entry, data, size, same);
	this_cpu->recorded[class]++;
	/*
	 * After the commit: pairs with the barrier of a reader between setting need_wakeup and
	 * looking for records, in pxt_synchronize_look() or set_current_state(). One of the two
	 * sees the other. User events do not need such a barrier, as the reader interrupts their
	 * writers.
	 */
	smp_mb();
	if (READ_ONCE(pool->wake.need_wakeup))
		todo |= BIT(PXT_RECORDER_WAKE);
	return todo;
}

/**
 * pxt_recorder_record() - record a kernel event
 * @pool: of a stream with a recorder, found under RCU
 * @class: number of its class
 * @entry: the record; its time is set here; its size is at most a sub-buffer
 * @data: entry->record.data_len bytes
 * @wakes: wake a sleeping reader
 *
 * Without room, the event counts as dropped. Context: interrupts are off, which also keeps
 * tracepoints in interrupts out; not in NMI; scheduler locks may be held.
 */
void pxt_recorder_record(struct pxt_pool *pool, u32 class, struct pxt_entry *entry,
			 const void *data, bool wakes)
{
	struct pxt_recorder *recorder = pool->recorder;
	u32 cpu = smp_processor_id();
	struct pxt_recorder_cpu *this_cpu = &recorder->cpu[cpu];
	unsigned long todo = 0;

	lockdep_assert_irqs_disabled();
	raw_spin_lock(&this_cpu->lock);
	/* Pairs with the release in pxt_recorder_want(): the clock is past START. */
	if (smp_load_acquire(&recorder->wanted) &
	    BIT_ULL(POSIXTRACE_RECORD_ID(entry->record.type)))
		todo = write_record(pool, this_cpu, cpu, class, entry, data);
	if (!wakes)
		todo &= ~BIT(PXT_RECORDER_WAKE);
	/* With the lock: once no event is wanted, a synchronization ends the queueing. */
	if (unlikely(todo)) {
		atomic_long_or(todo, recorder->todo);
		/* Orders both: the work sees the bits set before. */
		irq_work_queue(recorder->irq);
	}
	raw_spin_unlock(&this_cpu->lock);
}
