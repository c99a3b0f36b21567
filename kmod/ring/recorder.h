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
 * struct pxt_recorder_cpu - state for recording kernel events on one CPU
 * @lock: guards the rest, and in the pool this CPU's entry: the head, the open sub-buffer and its
 *	memory. Interrupts are off; scheduler locks may be held. Nests outside pxt_pool.lock
 * @room: bytes left in the open sub-buffer; 0 without one
 * @mem: address of the next record, if there is room
 * @pid: of the last record, as in struct posixtrace_writer
 * @tid: of the last record, as in struct posixtrace_writer
 * @thread_id: of the last record, as in struct posixtrace_writer
 * @time_end: a record at or after this time needs a struct posixtrace_writer, and so does the first
 *	one of a sub-buffer
 * @recorded: recorded events per class
 * @dropped: dropped events per class
 *
 * Unlike heads writable by a process, the kernel's heads need not be checked: they are only written
 * for the reader, and everything needed for the next record is here.
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
 * struct pxt_recorder - state for recording kernel events into one stream
 * @rcu: a tracepoint may still use it after the stream has ended
 * @wanted: bit n: record event type n. Written by pxt_recorder_want() with the locks of the stream
 *	and its table; read with the lock of a CPU, or without as a hint
 * @todo: bits PXT_RECORDER_*, atomic: set here, consumed by @irq
 * @irq: work that tracepoints must not do; queued only with the lock of a CPU and only while an
 *	event is wanted. @todo and @irq are part of the stream, and constant after CREATE
 * @nr_cpus: entries of @cpu; constant
 * @cpu: per-CPU state
 */
struct pxt_recorder {
	struct rcu_head rcu;
	u64 wanted;
	atomic_long_t *todo;
	struct irq_work *irq;
	u32 nr_cpus;
	struct pxt_recorder_cpu cpu[];
};

/* Deferred work of a record, handled without locks: bits of pxt_recorder.todo. */
#define PXT_RECORDER_WAKE	0	/* wake a sleeping reader */
#define PXT_RECORDER_CLOSED	1	/* a sub-buffer was closed */
#define PXT_RECORDER_FULL	2	/* no free sub-buffer: the stream must become full */

/* Called before the open sub-buffer is closed: the next record needs another one. */
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
