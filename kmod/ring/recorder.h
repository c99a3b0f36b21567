/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records kernel events: per CPU, into sub-buffers that no process maps for writing.
 * kevent/record.h chooses the streams, and the handlers of tracepoints write the data in place, so
 * all of the common path is inline.
 *
 * The callers are tracepoints, some inside the scheduler with a run queue lock held. A record
 * therefore takes at most two raw locks, never allocates and never wakes a task: an irq_work does
 * the deferred work.
 */
#ifndef PXT_RECORDER_H
#define PXT_RECORDER_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

#include "compat.h"
#include "ring/clock.h"
#include "ring/pool.h"
#include "ring/rawlock.h"

struct irq_work;

/**
 * struct pxt_recorder_cpu - state for recording kernel events on one CPU
 * @lock: guards the rest, and in the pool this CPU's entry: the head, the open sub-buffer and its
 *	memory. Interrupts are off; scheduler locks may be held. Nests outside pxt_pool.lock
 * @mem: address of the next record; NULL without an open sub-buffer
 * @end: end of the open sub-buffer
 * @time_end: a record at or after this time includes its time, and so does the first one of a
 *	sub-buffer
 * @thread: the last thread with each number in the open sub-buffer; the ids of an unused number are
 *	-1, which no thread has
 * @recorded: recorded events per class
 * @dropped: dropped events per class
 *
 * No process can write the heads of kernel events, so they need not be checked. The recorder takes
 * the position of the next record from @mem and @end.
 */
struct pxt_recorder_cpu {
	raw_spinlock_t lock;
	u64 *mem;
	u64 *end;
	u64 time_end;
	struct posixtrace_kthread thread[POSIXTRACE_KTHREADS_MAX];
	u64 recorded[POSIXTRACE_CLASSES_MAX];
	u64 dropped[POSIXTRACE_CLASSES_MAX];
} ____cacheline_aligned;

/**
 * struct pxt_recorder - state for recording kernel events into one stream
 * @rcu: a tracepoint may still use it after the stream has ended
 * @wanted: bit n: record event type n; bit PXT_RECORDER_WATCHED. Written by pxt_recorder_want()
 *	with the locks of the stream and its table; read with the lock of a CPU, or without as a
 *	hint
 * @todo: bits PXT_RECORDER_*, atomic: set here, consumed by @irq
 * @irq: work that tracepoints must not do; queued only with the lock of a CPU and only while an
 *	event is wanted. @todo and @irq are part of the stream, and constant after CREATE
 * @reports: @irq must know when a sub-buffer is closed: for a log, or for readers that wait for a
 *	number of bytes; constant once the stream runs
 * @nr_cpus: entries of @cpu; constant
 * @cpu: per-CPU state
 */
struct pxt_recorder {
	struct rcu_head rcu;
	u64 wanted;
	atomic_long_t *todo;
	struct irq_work *irq;
	bool reports;
	u32 nr_cpus;
	struct pxt_recorder_cpu cpu[];
};

/*
 * Bit of pxt_recorder.wanted: compare the times of threads with the thresholds of the stream. No
 * event has this id.
 */
#define PXT_RECORDER_WATCHED	0

/* Deferred work of a record, handled without locks: bits of pxt_recorder.todo. */
#define PXT_RECORDER_WAKE	0	/* wake a sleeping reader */
#define PXT_RECORDER_CLOSED	1	/* a sub-buffer was closed */
#define PXT_RECORDER_FULL	2	/* no free sub-buffer: the stream must become full */
#define PXT_RECORDER_TRIGGERED	3	/* a threshold was exceeded: wake pollers */

/**
 * struct pxt_krecord - a record that is being written
 * @start: address of its first word
 * @time: time of the record
 * @head: content of the first word, without size and value
 * @before: bytes and number of the records that are committed with it, as POSIXTRACE_HEAD()
 *
 * Only passed to inline functions, so that it stays in registers.
 */
struct pxt_krecord {
	u64 *start;
	u64 time;
	u64 head;
	u64 before;
};

/**
 * struct pxt_recorder_thread - a thread whose events this CPU records into a stream
 * @pool: memory of the stream
 * @wanted: the event types to record, as in struct pxt_recorder
 * @cpu: the recorder of this CPU
 * @head: the write position of the kernel events of this CPU
 * @need_wakeup: after an event, wake a reader if this is set
 * @thread: ids of the thread for records; @thread_id is unused, because it may change
 * @known: entry of pxt_recorder_cpu.thread for the number of the thread
 * @number: the number, as in the head of a record
 */
struct pxt_recorder_thread {
	struct pxt_pool *pool;
	const u64 *wanted;
	struct pxt_recorder_cpu *cpu;
	struct posixtrace_cpu_head *head;
	const bool *need_wakeup;
	struct posixtrace_kthread thread;
	struct posixtrace_kthread *known;
	u64 number;
};

/* For pxt_recorder_thread.wanted: no event. */
extern const u64 pxt_recorder_nothing;

/* Called before the open sub-buffer is closed, so that the next record opens another one. */
static inline void pxt_recorder_leave(struct pxt_recorder_cpu *this_cpu)
{
	lockdep_assert_held(&this_cpu->lock);
	this_cpu->mem = NULL;
	this_cpu->end = NULL;
}

/* Count a dropped event. The reader and GET_STATUS read the head without the lock. */
static inline void pxt_recorder_drop(struct pxt_recorder_cpu *this_cpu,
				     struct posixtrace_cpu_head *head, u32 class)
{
	lockdep_assert_held(&this_cpu->lock);
	this_cpu->dropped[class]++;
	WRITE_ONCE(head->lost, head->lost + 1);
}

/* recordcpu.c */
struct pxt_recorder *pxt_recorder_new(u32 nr_cpus, gfp_t gfp);
void pxt_recorder_free(struct pxt_recorder *recorder);
void pxt_recorder_want(struct pxt_recorder *recorder, u64 wanted);
void pxt_recorder_synchronize(struct pxt_recorder *recorder);
void pxt_recorder_clear(struct pxt_pool *pool);
void pxt_recorder_count(struct pxt_pool *pool, struct posixtrace_kernel_stats *stats);

void pxt_recorder_use(struct pxt_recorder_thread *by, struct pxt_pool *pool, u32 cpu, s32 pid,
		      s32 tid, bool wakes);

/* recorder.c */
bool pxt_recorder_turn(struct pxt_pool *pool, u32 class) __cold;
void pxt_recorder_defer(const struct pxt_pool *pool, unsigned long todo) __cold;

/* Copy each member: to copy the whole struct, gcc 12 aligns the stack, which slows each event. */
static __always_inline void pxt_recorder_name(struct posixtrace_kthread *to,
					      const struct posixtrace_kthread *thread,
					      u64 thread_id)
{
	to->pid = thread->pid;
	to->tid = thread->tid;
	to->thread_id = thread_id;
}

/**
 * pxt_recorder_begin() - start a record in the open sub-buffer
 * @record: result
 * @this_cpu: the recorder of this CPU; locked
 * @by: the thread that the event concerns
 * @thread_id: its pthread_t
 * @id: event type
 * @class: number of its class
 * @words: largest number of words of data
 * @data: where the data goes, for pxt_recorder_commit()
 *
 * Context: interrupts are off.
 * Return: false if the event was dropped.
 */
static __always_inline bool pxt_recorder_begin(struct pxt_krecord *record,
					       struct pxt_recorder_cpu *this_cpu,
					       const struct pxt_recorder_thread *by,
					       u64 thread_id, u32 id, u32 class, u32 words,
					       u64 **data)
{
	struct pxt_pool *pool = by->pool;
	u64 *word;

	record->start = this_cpu->mem;
	/*
	 * Pairs with the synchronization in pxt_subbuf_set_full(), which takes the lock of this
	 * CPU: once it has ended, kernel events are dropped.
	 */
	if (unlikely(data_race(pool->any_full) ||
		     record->start + POSIXTRACE_KRECORD_WORDS + words > this_cpu->end)) {
		if (!pxt_recorder_turn(pool, class))
			return false;
		record->start = this_cpu->mem;
	}
	/* Read the clock only now, with the lock held: no record is older than its sub-buffer. */
	record->time = pxt_clock_now_fast();
	record->head = id | by->number | record->time << POSIXTRACE_KHEAD_TIME_SHIFT;
	record->before = 0;
	word = record->start + 1;
	if (unlikely(record->time >= this_cpu->time_end)) {
		record->head |= POSIXTRACE_KFLAG_TIME << POSIXTRACE_KHEAD_FLAGS_SHIFT;
		this_cpu->time_end = record->time + POSIXTRACE_WRITER_SPAN;
		*word++ = record->time;
	}
	if (unlikely(by->known->tid != by->thread.tid || by->known->pid != by->thread.pid ||
		     by->known->thread_id != thread_id)) {
		record->head |= POSIXTRACE_KFLAG_THREAD << POSIXTRACE_KHEAD_FLAGS_SHIFT;
		pxt_recorder_name(by->known, &by->thread, thread_id);
		pxt_recorder_name((struct posixtrace_kthread *)word, &by->thread, thread_id);
		word += sizeof(by->thread) / sizeof(*word);
	}
	*data = word;
	return true;
}

/* Write the head of a record. Returns its bytes. */
static __always_inline u64 pxt_recorder_head(const struct pxt_krecord *record, const u64 *end,
					     u32 flags_value)
{
	u64 size = (void *)end - (void *)record->start;

	*record->start = record->head | flags_value |
			 size << (POSIXTRACE_KHEAD_WORDS_SHIFT - const_ilog2(sizeof(*end)));
	return size;
}

/**
 * pxt_recorder_then() - complete a record without a commit, and start another one
 * @record: started; becomes the other record, of the same thread and time
 * @this_cpu: as for pxt_recorder_begin()
 * @by: as for pxt_recorder_begin()
 * @id: event type of the other record
 * @class: number of the class of both
 * @end: in: end of the data of the first record; out: where the data of the other one goes
 * @flags_value: flags and value of the first record, as for pxt_recorder_commit()
 *
 * The first record had room for both. Readers see both records together.
 */
static __always_inline void pxt_recorder_then(struct pxt_krecord *record,
					      struct pxt_recorder_cpu *this_cpu,
					      const struct pxt_recorder_thread *by, u32 id,
					      u32 class, u64 **end, u32 flags_value)
{
	record->before = POSIXTRACE_HEAD(0, 1) + pxt_recorder_head(record, *end, flags_value);
	this_cpu->recorded[class]++;
	record->start = (*end)++;
	record->head = id | by->number | record->time << POSIXTRACE_KHEAD_TIME_SHIFT;
}

/**
 * pxt_recorder_commit() - complete a record, and check if a reader must be woken
 * @record: started
 * @this_cpu: as for pxt_recorder_begin()
 * @by: as for pxt_recorder_begin()
 * @class: number of the class
 * @end: after its data
 * @flags_value: POSIXTRACE_KFLAG_* and the value, shifted as in the head
 */
static __always_inline void pxt_recorder_commit(const struct pxt_krecord *record,
						struct pxt_recorder_cpu *this_cpu,
						const struct pxt_recorder_thread *by, u32 class,
						u64 *end, u32 flags_value)
{
	struct posixtrace_cpu_head *head = by->head;
	u64 size = pxt_recorder_head(record, end, flags_value);

	this_cpu->mem = end;
	this_cpu->recorded[class]++;
	WRITE_ONCE(head->last, record->time);
	/* Pairs with the acquire in filled() (reclaim.c) and in the reader's subbuf_used(). */
	smp_store_release(&head->head, head->head + record->before + POSIXTRACE_HEAD(0, 1) + size);
	/*
	 * After the commit: pairs with the barrier of a reader between setting need_wakeup and
	 * looking for records, in pxt_synchronize_look() or set_current_state(). Either this CPU
	 * sees need_wakeup, or the reader sees the record. User events do not need such a barrier,
	 * because the reader interrupts their writers.
	 */
	smp_mb();
	/* Events of class irq wake no readers: each wake-up, and its timer, is an interrupt. */
	if (class != const_ilog2(POSIXTRACE_CLASS_IRQ) && unlikely(data_race(*by->need_wakeup)))
		pxt_recorder_defer(by->pool, BIT(PXT_RECORDER_WAKE));
}

#endif /* PXT_RECORDER_H */
