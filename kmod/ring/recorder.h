/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RECORDER_H
#define PXT_RECORDER_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

struct irq_work;
struct pxt_entry;
struct pxt_pool;

/**
 * struct pxt_recorder_cpu - recording the kernel's events on one CPU
 * @lock: guards the rest, and of the entry of this CPU in the pool: the head, the open sub-buffer
 *	and its memory. Interrupts are off; locks of the scheduler may be held. Outside of
 *	pxt_pool.lock
 * @room: bytes left in the open sub-buffer; 0 without one
 * @mem: where the next record goes, if there is room
 * @pid: of the last record, as in struct posixtrace_writer
 * @tid: of the last record, as in struct posixtrace_writer
 * @thread_id: of the last record, as in struct posixtrace_writer
 * @time_end: a record at or after this time needs a struct posixtrace_writer; so does the first one
 *	of a sub-buffer
 * @recorded: events of each class that were recorded
 * @dropped: events of each class that found no place
 *
 * Unlike the heads that a process can write, the kernel's heads need not be checked: they are
 * only written, for the reader, and what the next record needs of them is here.
 */
struct pxt_recorder_cpu {
	raw_spinlock_t lock;
	u32 room;
	void *mem;
	s32 pid;
	s32 tid;
	u64 thread_id;
	u64 time_end;
	u64 recorded[POSIXTRACE_CLASSES_MAX];
	u64 dropped[POSIXTRACE_CLASSES_MAX];
} ____cacheline_aligned;

/**
 * struct pxt_recorder - recording the kernel's events into one stream
 * @rcu: a tracepoint may still look at it when the stream has ended
 * @wanted: bit n: record event type n. Written with the lock of the stream and that of its table,
 *	by pxt_recorder_want(); read with the lock of a CPU, or without as a hint
 * @todo: bits PXT_RECORDER_*, atomic: set here, taken by @irq
 * @irq: does what tracepoints must not do; queued with the lock of a CPU only, and only while an
 *	event is wanted. Both are part of the stream, and constant after CREATE
 * @nr_cpus: entries of @cpu; constant
 * @cpu: of each CPU
 */
struct pxt_recorder {
	struct rcu_head rcu;
	u64 wanted;
	atomic_long_t *todo;
	struct irq_work *irq;
	u32 nr_cpus;
	struct pxt_recorder_cpu cpu[];
};

/* What has to follow a record, outside of all locks: bits of pxt_recorder.todo. */
#define PXT_RECORDER_WAKE	0	/* a reader sleeps */
#define PXT_RECORDER_CLOSED	1	/* a sub-buffer was closed */
#define PXT_RECORDER_FULL	2	/* there is no sub-buffer: the stream has to become full */

/* The open sub-buffer is about to be closed: the next record needs another one. */
static inline void pxt_recorder_leave(struct pxt_recorder_cpu *this_cpu)
{
	lockdep_assert_held(&this_cpu->lock);
	this_cpu->room = 0;
}

/* recordcpu.c */
struct pxt_recorder *pxt_recorder_new(u32 nr_cpus, gfp_t gfp);
void pxt_recorder_free(struct pxt_recorder *recorder);
void pxt_recorder_want(struct pxt_recorder *recorder, u64 wanted);
void pxt_recorder_synchronize(struct pxt_recorder *recorder);
void pxt_recorder_clear(struct pxt_pool *pool);
void pxt_recorder_count(struct pxt_pool *pool, struct posixtrace_kernel_stats *stats);

/* recorder.c */
void pxt_recorder_record(struct pxt_pool *pool, u32 class, struct pxt_entry *entry,
			 const void *data, bool wakes);

#endif /* PXT_RECORDER_H */
