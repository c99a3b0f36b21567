/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_POOL_H
#define PXT_POOL_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/posixtrace.h>

#include "ring/user.h"

struct pxt_recorder;

/**
 * struct pxt_subbuf - the kernel's descriptor of one sub-buffer
 * @cpu_node: in pxt_pool_cpu.subbufs, in the order of hand-out
 * @node: in a list of pxt_subbuf_kind, or in pxt_pool.orphaned
 * @seq: number of this use
 * @opened: time it was handed out, ns
 * @closed: time it was closed or its CPU was found offline, ns
 * @cpu: CPU that writes or wrote it, as in struct posixtrace_subbuf
 * @state: POSIXTRACE_SUBBUF_*
 * @used: bytes of records, once closed
 * @count: number of records, once closed
 *
 * Guarded by pxt_pool.lock. The descriptor mapped by the reader is a copy: the kernel trusts no
 * mapped page.
 */
struct pxt_subbuf {
	struct list_head cpu_node;
	struct list_head node;
	u64 seq;
	u64 opened;
	u64 closed;
	u32 cpu;
	u32 state;
	u32 used;
	u32 count;
};

/**
 * struct pxt_pool_cpu - the sub-buffers of one CPU
 * @subbufs: sub-buffers in use, oldest first
 * @open: the sub-buffer it writes, or POSIXTRACE_NONE
 * @recorded: user events in the sub-buffers closed since CREATE or CLEAR
 *
 * Guarded by pxt_pool.lock. Kernel code that records on this CPU with interrupts off reads @open
 * without the lock, because @open changes only on this CPU, after the synchronization that follows
 * setting pxt_pool.full, or while this CPU is offline. A flush reads @open with READ_ONCE() to find
 * CPUs with an open sub-buffer. For kernel events, @open also needs the lock of that CPU in struct
 * pxt_recorder_cpu.
 */
struct pxt_pool_cpu {
	struct list_head subbufs;
	u32 open;
	u64 recorded;
};

/**
 * struct pxt_subbuf_kind - the sub-buffers for user, system or kernel events
 * @free: not handed out
 * @due: in a stream with a log: handed out up to pxt_pool.due_until and closed, in the order of
 *	closing
 * @closed: other closed sub-buffers, in the same order
 * @orphans_due: like @due, but orphaned when they were closed; in the order of becoming orphaned
 * @orphans_closed: like @closed, but orphaned when they were closed; in the same order
 *
 * Each list is ordered by pxt_subbuf.closed. Each CPU closes its sub-buffers in order, so taking
 * the smallest time first also keeps the order of each CPU.
 */
struct pxt_subbuf_kind {
	struct list_head free;
	struct list_head due;
	struct list_head closed;
	struct list_head orphans_due;
	struct list_head orphans_closed;
};

/**
 * struct pxt_gaps - the account of lost events of a stream
 *
 * Guarded by pxt_pool.lock, and written only by ring/reclaim.c: when unread events are overwritten,
 * events cannot be recorded, or all events are forgotten. pxt_gap_end() copies it to struct
 * posixtrace_ctrl for the reader.
 */
struct pxt_gaps {
	/** @seq: gap_lock in struct posixtrace_ctrl: odd while the account changes */
	u32 seq;
	/** @generation: gap_generation in struct posixtrace_ctrl */
	u64 generation;
	/** @first: gap_first in struct posixtrace_ctrl */
	u64 first;
	/** @previous_first: as in struct posixtrace_ctrl */
	u64 previous_first;
	/**
	 * @logged: generation of the last gap in the log; the serving task reads it without the
	 * lock after CLEAR
	 */
	u64 logged;
	/** @overwrite_watermark: as in struct posixtrace_ctrl */
	u64 overwrite_watermark;
	/** @lost: as in struct posixtrace_ctrl; GET_STATUS and the log read it without the lock */
	u64 lost;
	/** @lost_sys: system events among @lost */
	u64 lost_sys;
	/** @lost_kernel: kernel events among @lost */
	u64 lost_kernel;
};

/**
 * struct pxt_mapping - what page faults need to know about the memory of a stream
 *
 * CREATE writes the constants, which mmap(), page faults and the commands that return sizes read.
 * pxt_mmap_zap() sets @unmapped when the stream ends, and page faults read it.
 */
struct pxt_mapping {
	/* Constant: */
	/**
	 * @scratch: PXT_POOL_SCRATCH bytes, mapped in place of everything else after the stream has
	 * ended
	 */
	void *scratch;
	/** @reader_size: bytes, whole pages; the ranges follow each other in this order */
	u64 reader_size;
	/** @wakeup_size: bytes, whole pages */
	u64 wakeup_size;
	/** @ctrl_size: bytes, whole pages */
	u64 ctrl_size;
	/** @heads_size: bytes, whole pages */
	u64 heads_size;

	/** @lock: guards @unmapped against page faults */
	struct rw_semaphore lock;
	/** @unmapped: page faults get scratch pages */
	bool unmapped;
};

/**
 * struct pxt_wake - the sleeping readers of a stream, and when to wake them
 *
 * Only ring/wake.c writes it, with the lock of @wait: when readers go to sleep, for WAKE, for the
 * kernel's records, and when the timer expires. Code that records reads @need_wakeup without the
 * lock, and shutdown wakes the readers in @wait a last time.
 */
struct pxt_wake {
	/* Constant: */
	/** @bytes: wakeup_bytes of struct posixtrace_attr */
	u64 bytes;
	/** @ns: wakeup_ns of struct posixtrace_attr */
	u64 ns;

	/** @wait: sleepers and pollers; its lock guards the following fields */
	wait_queue_head_t wait;
	/** @need_wakeup: the next record must wake @wait; writers read it without the lock */
	bool need_wakeup;
	/** @edges: an edge-triggered poller is or was in @wait: keep @need_wakeup set */
	bool edges;
	/**
	 * @round: number of times @need_wakeup was set; a change also needs the lock of the stream
	 */
	u32 round;
	/**
	 * @pending: readers in @wait continue to sleep although there are records: they rely on
	 * @timer and, after @defer_until, on pxt_wake_filled()
	 */
	bool pending;
	/**
	 * @defer_until: before this time of the stream's clock, the reader reports no records; 0 if
	 * it reports all of them. pxt_reclaim_deferred() reads it without the lock
	 */
	u64 defer_until;
	/** @ended: the stream is dead, so @need_wakeup no longer changes */
	bool ended;
	/** @timer: wakes @wait if @pending is set; not started once @ended is set */
	struct hrtimer timer;
};

/**
 * struct pxt_pool - the memory of a stream
 *
 * @lock also guards the descriptors, oldest[], holders[] and the account of the gap in @ctrl.
 */
struct pxt_pool {
	/** @lock: the innermost lock; interrupts off */
	raw_spinlock_t lock;

	/* Guarded by @lock: */
	/** @dead: the memory is freed or about to be; do not access it */
	bool dead;
	union {
		struct {
			/**
			 * @full: sub-buffers are not handed out: the stream or its log is full, or
			 * CLEAR or the end of the stream is in progress; writers in the kernel read
			 * it without the lock, with interrupts off
			 */
			bool full;
			/**
			 * @kernel_full: kernel events are lost for lack of a sub-buffer (not LOOP),
			 * and the stream is about to become full
			 */
			bool kernel_full;
		};
		/**
		 * @any_full: not 0 if @full or @kernel_full is set; the recorder reads it without
		 * the lock
		 */
		u16 any_full;
	};
	/**
	 * @clearing: CLEAR is in progress: past events are forgotten, and recording is off until it
	 * is done
	 */
	bool clearing;
	/** @overrun: unread events were overwritten since the last GET_STATUS */
	bool overrun;
	/** @wrapped: unread events were overwritten since a sub-buffer was last freed */
	bool wrapped;
	/** @seq: number of the last hand-out */
	u64 seq;
	/** @due_until: @seq when the last epoch of the log began; 0 without a log */
	u64 due_until;
	/** @gaps: the account of losses */
	struct pxt_gaps gaps;
	/** @used: user sub-buffers that are not free; the log reads it without the lock */
	u32 used;
	/** @user_closed: closed user sub-buffers; the wake-up reads it without the lock */
	u32 user_closed;
	/** @user: sub-buffers that targets write */
	struct pxt_subbuf_kind user;
	/** @sys: sub-buffers for system events */
	struct pxt_subbuf_kind sys;
	/** @kernel: sub-buffers for kernel events */
	struct pxt_subbuf_kind kernel;
	/** @kernel_used: kernel sub-buffers that are not free; the log reads it without the lock */
	u32 kernel_used;
	/** @kernel_closed: closed kernel sub-buffers; the wake-up reads it without the lock */
	u32 kernel_closed;
	/** @kernel_wrapped: as @wrapped, for kernel events */
	bool kernel_wrapped;
	/** @kernel_full_since: when @kernel_full was set, ns */
	u64 kernel_full_since;
	/** @orphaned: open sub-buffers of offline CPUs, in the order the CPUs went offline */
	struct list_head orphaned;
	/** @cpu: nr_writers entries: the CPUs, system events, kernel events on each CPU */
	struct pxt_pool_cpu *cpu;
	/** @subbuf: nr_user + nr_sys + nr_kernel entries */
	struct pxt_subbuf *subbuf;
	/** @holding: bits of the CPUs that hold sub-buffers; @holders is a copy */
	u64 *holding;

	/* Guarded by the lock of the stream: */
	/** @nr_sys_made: number of sub-buffers in @sys_mem */
	u32 nr_sys_made;
	/**
	 * @sys_mem: sub-buffers for system events, NULL until needed; published with release,
	 * read by page faults with acquire; the analyzer maps and reads them
	 */
	void **sys_mem;

	/* Constant: */
	/** @loop: policy LOOP */
	bool loop;
	/** @charge: resources charged for the stream */
	struct pxt_charge *charge;
	/** @nr_cpus: entries of @heads */
	u32 nr_cpus;
	/** @nr_writers: entries of @cpu and @oldest */
	u32 nr_writers;
	/** @nr_user: sub-buffers that targets write */
	u32 nr_user;
	/** @nr_sys: sub-buffers for system events, including those not allocated yet */
	u32 nr_sys;
	/** @nr_kernel: sub-buffers for kernel events; 0 without kernel events */
	u32 nr_kernel;
	/** @subbuf_size: bytes of a sub-buffer */
	u32 subbuf_size;
	/** @reader: mapped and written by the analyzer */
	struct posixtrace_reader *reader;
	/** @wakeup: mapped and read by the targets */
	struct posixtrace_wakeup *wakeup;
	/** @ctrl: mapped and read by the analyzer */
	struct posixtrace_ctrl *ctrl;
	/** @oldest: in @ctrl */
	u32 *oldest;
	/** @holders: in @ctrl */
	u64 *holders;
	/** @desc: in @ctrl */
	struct posixtrace_subbuf *desc;
	/** @heads: mapped and written by the targets */
	struct posixtrace_cpu_head *heads;
	/** @user_mem: user sub-buffers; mapped and written by the targets */
	void *user_mem;
	/** @kernel_heads: in @ctrl, for kernel events; NULL without kernel events */
	struct posixtrace_cpu_head *kernel_heads;
	/** @kernel_mem: sub-buffers for kernel events; mapped and read by the analyzer */
	void *kernel_mem;
	/** @recorder: recorder of kernel events, or NULL. Freed after a grace period */
	struct pxt_recorder *recorder;

	/** @map: its mappings */
	struct pxt_mapping map;
	/** @wake: its sleeping readers */
	struct pxt_wake wake;
};

/* One scratch page each for the reader's range, the heads and the sub-buffers. */
#define PXT_POOL_SCRATCH	(3 * PAGE_SIZE)

static inline u64 pxt_pool_wakeup_offset(const struct pxt_pool *pool)
{
	return pool->map.reader_size;
}

static inline u64 pxt_pool_ctrl_offset(const struct pxt_pool *pool)
{
	return pxt_pool_wakeup_offset(pool) + pool->map.wakeup_size;
}

static inline u64 pxt_pool_heads_offset(const struct pxt_pool *pool)
{
	return pxt_pool_ctrl_offset(pool) + pool->map.ctrl_size;
}

static inline u64 pxt_pool_mem_offset(const struct pxt_pool *pool)
{
	return pxt_pool_heads_offset(pool) + pool->map.heads_size;
}

static inline u64 pxt_pool_user_size(const struct pxt_pool *pool)
{
	return (u64)pool->nr_user * pool->subbuf_size;
}

static inline u64 pxt_pool_kernel_size(const struct pxt_pool *pool)
{
	return (u64)pool->nr_kernel * pool->subbuf_size;
}

static inline u32 pxt_pool_nr_subbufs(const struct pxt_pool *pool)
{
	return pool->nr_user + pool->nr_sys + pool->nr_kernel;
}

static inline u64 pxt_pool_mem_size(const struct pxt_pool *pool)
{
	return (u64)pxt_pool_nr_subbufs(pool) * pool->subbuf_size;
}

/* The index of a CPU's kernel events in pxt_pool.cpu. */
static inline u32 pxt_pool_kernel_writer(const struct pxt_pool *pool, u32 cpu)
{
	return pool->nr_cpus + 1 + cpu;
}

/* The write position of an entry of pxt_pool.cpu. */
static inline struct posixtrace_cpu_head *pxt_pool_head(const struct pxt_pool *pool, u32 writer)
{
	if (writer < pool->nr_cpus)
		return &pool->heads[writer];
	return writer == pool->nr_cpus ? &pool->ctrl->system
				       : &pool->kernel_heads[writer - pool->nr_cpus - 1];
}

/* The kind of sub-buffers used by an entry of pxt_pool.cpu. */
static inline struct pxt_subbuf_kind *pxt_pool_kind(struct pxt_pool *pool, u32 writer)
{
	if (writer < pool->nr_cpus)
		return &pool->user;
	return writer == pool->nr_cpus ? &pool->sys : &pool->kernel;
}

/* Bytes of all mappable ranges. */
static inline u64 pxt_pool_size(const struct pxt_pool *pool)
{
	return pxt_pool_mem_offset(pool) + pxt_pool_mem_size(pool);
}

int pxt_pool_init(struct pxt_pool *pool, struct posixtrace_attr *attr, struct pxt_charge *charge);
void pxt_pool_destroy(struct pxt_pool *pool);
void pxt_pool_destroy_scratch(struct pxt_pool *pool);
void *pxt_pool_subbuf(const struct pxt_pool *pool, u32 i);
int pxt_pool_make_sys(struct pxt_pool *pool);
struct page *pxt_pool_page(struct pxt_pool *pool, u64 offset);
struct page *pxt_pool_scratch(const struct pxt_pool *pool, u64 offset);
u64 pxt_pool_memory(const struct pxt_pool *pool);
u64 pxt_pool_dropped_user(const struct pxt_pool *pool);
u64 pxt_pool_dropped(const struct pxt_pool *pool);

#endif /* PXT_POOL_H */
