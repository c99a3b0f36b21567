/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_POOL_H
#define PXT_POOL_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/posixtrace.h>

#include "ring/user.h"

/**
 * struct pxt_subbuf - what the kernel knows of one sub-buffer
 * @cpu_node: in pxt_pool_cpu.subbufs, in the order of hand-out
 * @node: in the list of its kind of those that are free, due or closed, or in pxt_pool.orphaned
 * @seq: number of this use
 * @opened: time of the hand-out, ns
 * @closed: time it was closed, or its CPU was found offline, ns
 * @cpu: CPU that writes or wrote it
 * @state: POSIXTRACE_SUBBUF_*
 * @used: when closed: bytes of records
 * @count: when closed: number of records
 *
 * All of it is guarded by pxt_pool.lock. The descriptor that the reader maps is
 * a copy, for no page that somebody maps is believed.
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
 * struct pxt_pool_cpu - what one CPU holds
 * @subbufs: its sub-buffers that were not given back, oldest first
 * @open: the one it writes, or POSIXTRACE_NONE
 *
 * Guarded by pxt_pool.lock; @open is also read without, by kernel code that
 * records on this CPU with interrupts off: it is changed on this CPU, after a
 * synchronize that followed setting pxt_pool.full, or while this CPU is offline. And
 * by a flush, which asks the CPUs that hold one: with READ_ONCE().
 */
struct pxt_pool_cpu {
	struct list_head subbufs;
	u32 open;
};

/**
 * struct pxt_subbuf_kind - sub-buffers that targets, or that the kernel writes
 * @free: not handed out
 * @due: of a stream with log: handed out by pxt_pool.due_until and closed, in the order they
 *	were closed
 * @closed: the others that were closed, in that order
 */
struct pxt_subbuf_kind {
	struct list_head free;
	struct list_head due;
	struct list_head closed;
};

/**
 * struct pxt_pool - the memory of a stream
 * @lock: guards all that follows up to @subbuf, and the descriptors, oldest[]
 *	and the account of the gap in @ctrl. Interrupts off. The innermost lock.
 * @dead: the memory is gone or about to go; nobody touches it any more
 * @full: the stream is full (not LOOP): nothing is handed out
 * @overrun: unread events were overwritten since the status was asked for
 * @wrapped: unread events were overwritten since something was given back
 * @seq: of the last hand-out
 * @due_until: @seq when the last epoch of the log began; 0 without log
 * @gap_lock: as in struct posixtrace_ctrl
 * @gap_generation: likewise
 * @gap_first: likewise
 * @gap_logged: generation of the last gap that is in the log
 * @overwrite_watermark: likewise
 * @lost: likewise
 * @lost_sys: system events among @lost
 * @used: user sub-buffers that are not free
 * @recorded: user events in all sub-buffers that were closed
 * @user: sub-buffers that targets write
 * @sys: those for system events
 * @orphaned: what CPUs that are offline have open, in the order in which they went
 * @cpu: nr_cpus + 1 entries, the last for system events
 * @subbuf: nr_user + nr_sys entries
 * @loop: policy LOOP; constant, as all that follows but @sys_mem, @nr_sys_made
 * @charge: of the stream
 * @nr_cpus: entries of @heads
 * @nr_user: sub-buffers that targets write
 * @nr_sys: sub-buffers for system events
 * @subbuf_size: bytes
 * @nr_sys_made: how many of @sys_mem exist; changed under the stream's lock
 * @reader: shared with the analyzer, who writes it
 * @wakeup: shared with the targets, who read it
 * @ctrl: shared with the analyzer, who reads it
 * @oldest: in @ctrl
 * @desc: in @ctrl
 * @heads: shared with the targets, who write it
 * @user_mem: shared with the targets, who write it
 * @sys_mem: shared with the analyzer, who reads it; NULL until needed. Published
 *	with release, read by page faults with acquire
 * @scratch: PXT_POOL_SCRATCH bytes: what is mapped in the place of all else when the stream
 *	has ended
 * @reader_size: bytes, whole pages; the ranges follow one another in this order
 * @wakeup_size: likewise
 * @ctrl_size: likewise
 * @heads_size: likewise
 * @wait: sleepers and pollers; its lock guards @need_wakeup and @wake_ended
 * @need_wakeup: a reader is, or may be, in there: what need_wakeup says
 * @wake_ended: the stream is dead: need_wakeup does not change any more
 * @map_lock: guards @unmapped against page faults
 * @unmapped: page faults get scratch pages
 */
struct pxt_pool {
	raw_spinlock_t lock;
	bool dead;
	bool full;
	bool overrun;
	bool wrapped;
	u64 seq;
	u64 due_until;
	u32 gap_lock;
	u64 gap_generation;
	u64 gap_first;
	u64 gap_logged;
	u64 overwrite_watermark;
	u64 lost;
	u64 lost_sys;
	u32 used;
	u64 recorded;
	struct pxt_subbuf_kind user;
	struct pxt_subbuf_kind sys;
	struct list_head orphaned;
	struct pxt_pool_cpu *cpu;
	struct pxt_subbuf *subbuf;

	bool loop;
	struct pxt_charge *charge;
	u32 nr_cpus;
	u32 nr_user;
	u32 nr_sys;
	u32 subbuf_size;
	u32 nr_sys_made;
	struct posixtrace_reader *reader;
	struct posixtrace_wakeup *wakeup;
	struct posixtrace_ctrl *ctrl;
	u32 *oldest;
	struct posixtrace_subbuf *desc;
	struct posixtrace_cpu_head *heads;
	void *user_mem;
	void **sys_mem;
	void *scratch;
	u64 reader_size;
	u64 wakeup_size;
	u64 ctrl_size;
	u64 heads_size;

	wait_queue_head_t wait;
	bool need_wakeup;
	bool wake_ended;

	struct rw_semaphore map_lock;
	bool unmapped;
};

/* One page each in the place of the reader's, of heads, and of sub-buffers. */
#define PXT_POOL_SCRATCH	(3 * PAGE_SIZE)

static inline u64 pxt_pool_wakeup_offset(const struct pxt_pool *pool)
{
	return pool->reader_size;
}

static inline u64 pxt_pool_ctrl_offset(const struct pxt_pool *pool)
{
	return pxt_pool_wakeup_offset(pool) + pool->wakeup_size;
}

static inline u64 pxt_pool_heads_offset(const struct pxt_pool *pool)
{
	return pxt_pool_ctrl_offset(pool) + pool->ctrl_size;
}

static inline u64 pxt_pool_mem_offset(const struct pxt_pool *pool)
{
	return pxt_pool_heads_offset(pool) + pool->heads_size;
}

static inline u64 pxt_pool_user_size(const struct pxt_pool *pool)
{
	return (u64)pool->nr_user * pool->subbuf_size;
}

static inline u64 pxt_pool_mem_size(const struct pxt_pool *pool)
{
	return (u64)(pool->nr_user + pool->nr_sys) * pool->subbuf_size;
}

/* All that can be mapped. */
static inline u64 pxt_pool_size(const struct pxt_pool *pool)
{
	return pxt_pool_mem_offset(pool) + pxt_pool_mem_size(pool);
}

bool pxt_pool_size_valid(u64 size, u64 max_data);
int pxt_pool_init(struct pxt_pool *pool, struct posixtrace_attr *attr, struct pxt_charge *charge);
void pxt_pool_destroy(struct pxt_pool *pool);
void pxt_pool_destroy_scratch(struct pxt_pool *pool);
const void *pxt_pool_subbuf(const struct pxt_pool *pool, u32 i);
int pxt_pool_make_sys(struct pxt_pool *pool);
struct page *pxt_pool_page(struct pxt_pool *pool, u64 offset);
struct page *pxt_pool_scratch(const struct pxt_pool *pool, u64 offset);
u64 pxt_pool_memory(const struct pxt_pool *pool);
u64 pxt_pool_dropped(const struct pxt_pool *pool);

#endif /* PXT_POOL_H */
