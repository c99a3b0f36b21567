// SPDX-License-Identifier: GPL-2.0
/*
 * Hands out sub-buffers to the CPUs, and closes them; reclaim.c reclaims them. Independent of
 * targets, and of the states of a stream except those in struct pxt_pool.
 *
 * The traced processes write the heads: a head determines the position where the kernel writes in
 * the open sub-buffer of its CPU, but never the sub-buffer.
 */
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "ring/clock.h"
#include "ring/reclaim.h"
#include "ring/recorder.h"
#include "ring/subbuf.h"

/*
 * Find room for the next record. Returns false without an open sub-buffer or if the head is
 * invalid.
 */
static bool look_up(const struct pxt_pool *pool, u32 cpu, struct pxt_reservation *res)
{
	u32 open = pool->cpu[cpu].open;
	u64 start, word, pos;

	if (open == POSIXTRACE_NONE)
		return false;
	start = (u64)open * pool->subbuf_size;
	res->head = pxt_pool_head(pool, cpu);
	/* Read it once: a target may write it at any time. */
	word = READ_ONCE(res->head->head);
	pos = POSIXTRACE_HEAD_POS(word);
	if (pos < start || pos > start + pool->subbuf_size || pos % POSIXTRACE_RECORD_ALIGN)
		return false;
	/* Stay within the sub-buffer even in speculation. */
	pos = start + array_index_nospec(pos - start, pool->subbuf_size + 1UL);
	res->room = start + pool->subbuf_size - pos;
	res->pos = pos;
	res->count = POSIXTRACE_HEAD_COUNT(word);
	if (cpu < pool->nr_cpus)
		res->mem = pool->user_mem + pos;
	else
		res->mem = pool->sys_mem[open - pool->nr_user] + (pos - start);
	return true;
}

static bool has_room(const struct pxt_pool *pool, u32 cpu, u32 size)
{
	struct pxt_reservation res;

	return look_up(pool, cpu, &res) && res.room >= size;
}

/*
 * Did the same thread write the previous record, and not too long ago? A target may forge the
 * answer by its head, but it could as well change the record itself.
 */
static bool is_same(const struct pxt_reservation *res, const struct posixtrace_writer *writer)
{
	const struct posixtrace_cpu_head *head = res->head;

	return READ_ONCE(head->writer_head) == POSIXTRACE_HEAD(res->pos, res->count) &&
	       READ_ONCE(head->pid) == writer->pid && READ_ONCE(head->tid) == writer->tid &&
	       READ_ONCE(head->thread_id) == writer->thread_id &&
	       READ_ONCE(head->address_high) == writer->address_high &&
	       READ_ONCE(head->time_end) > writer->time;
}

/**
 * pxt_subbuf_reserve() - find room for a record in the open sub-buffer
 * @pool: not dead
 * @cpu: this CPU, or nr_cpus for system events
 * @entry: the record
 * @res: result
 *
 * Context: with interrupts off, or with the stream's lock for system events.
 * Return: false if there is no room, or the head is invalid.
 */
bool pxt_subbuf_reserve(const struct pxt_pool *pool, u32 cpu, const struct pxt_entry *entry,
			struct pxt_reservation *res)
{
	if (!look_up(pool, cpu, res))
		return false;
	res->same = is_same(res, &entry->writer);
	return res->room >= pxt_entry_size(entry, res->same);
}

/**
 * pxt_subbuf_commit() - write a record into its reservation
 * @res: from pxt_subbuf_reserve(), in the same section
 * @entry: complete
 * @data: entry->record.data_len bytes
 */
void pxt_subbuf_commit(const struct pxt_reservation *res, const struct pxt_entry *entry,
		       const void *data)
{
	u32 size = pxt_entry_size(entry, res->same);
	u64 word = POSIXTRACE_HEAD(res->pos + size, res->count + 1);
	struct posixtrace_cpu_head *head = res->head;

	pxt_entry_write(entry, data, res->same, res->mem);
	/* Unlike a restartable sequence, this cannot be interrupted, so any order will do. */
	WRITE_ONCE(head->pid, entry->writer.pid);
	WRITE_ONCE(head->tid, entry->writer.tid);
	WRITE_ONCE(head->thread_id, entry->writer.thread_id);
	WRITE_ONCE(head->address_high, entry->writer.address_high);
	if (!res->same)
		WRITE_ONCE(head->time_end, entry->writer.time + POSIXTRACE_WRITER_SPAN);
	WRITE_ONCE(head->writer_head, word);
	WRITE_ONCE(head->last, entry->writer.time);
	/* Pairs with the acquire in filled() (reclaim.c) and in the reader's subbuf_used(). */
	smp_store_release(&head->head, word);
}

/*
 * Measure bytes and records in the open sub-buffer of a CPU. The result is within bounds whatever
 * the head contains.
 */
static void measure_open(const struct pxt_pool *pool, u32 cpu, u32 *used, u32 *count)
{
	u64 start = (u64)pool->cpu[cpu].open * pool->subbuf_size;
	u64 word = READ_ONCE(pxt_pool_head(pool, cpu)->head);
	u64 pos = POSIXTRACE_HEAD_POS(word);

	if (pos < start || pos > start + pool->subbuf_size)
		pos = start;
	*used = (pos - start) & ~(POSIXTRACE_RECORD_ALIGN - 1);
	*count = min_t(u32, POSIXTRACE_HEAD_COUNT(word),
		       *used / sizeof(struct posixtrace_record));
}

/* Did the CPU of a sub-buffer go offline while the sub-buffer was open? */
static bool is_orphaned(const struct pxt_subbuf *subbuf)
{
	return subbuf->state == POSIXTRACE_SUBBUF_OPEN && !list_empty(&subbuf->node);
}

/* Return the list that a sub-buffer joins at the end when it is closed. */
static struct list_head *list_of(struct pxt_pool *pool, const struct pxt_subbuf *subbuf,
				 bool orphaned)
{
	struct pxt_subbuf_kind *kind = pxt_pool_kind(pool, subbuf->cpu);

	if (subbuf->seq <= pool->due_until)
		return orphaned ? &kind->orphans_due : &kind->due;
	return orphaned ? &kind->orphans_closed : &kind->closed;
}

static void close_open(struct pxt_pool *pool, u32 cpu)
{
	u32 open = pool->cpu[cpu].open;
	struct posixtrace_subbuf *desc;
	struct pxt_subbuf *subbuf;
	bool orphaned;

	if (open == POSIXTRACE_NONE)
		return;
	subbuf = &pool->subbuf[open];
	desc = &pool->desc[open];
	measure_open(pool, cpu, &subbuf->used, &subbuf->count);
	/*
	 * The orphan's pxt_subbuf.closed is already the time at which its CPU went offline: keep
	 * it.
	 */
	orphaned = is_orphaned(subbuf);
	if (orphaned)
		list_del_init(&subbuf->node);
	else
		subbuf->closed = pxt_clock_now();
	if (cpu < pool->nr_cpus)
		pool->cpu[cpu].recorded += subbuf->count;
	WRITE_ONCE(pool->cpu[cpu].open, POSIXTRACE_NONE);
	/* pxt_subbuf_clear_full() resets the limit; by then, no sub-buffer is open. */
	WRITE_ONCE(pxt_pool_head(pool, cpu)->limit,
		   pool->full && cpu < pool->nr_cpus ? POSIXTRACE_LIMIT_FULL : 0);
	if (!subbuf->used) {
		pxt_reclaim_free(pool, subbuf);
		return;
	}
	subbuf->state = POSIXTRACE_SUBBUF_CLOSED;
	if (cpu < pool->nr_cpus)
		WRITE_ONCE(pool->user_closed, pool->user_closed + 1);
	else if (cpu > pool->nr_cpus)
		WRITE_ONCE(pool->kernel_closed, pool->kernel_closed + 1);
	list_add_tail(&subbuf->node, list_of(pool, subbuf, orphaned));
	WRITE_ONCE(desc->used, subbuf->used);
	WRITE_ONCE(desc->count, subbuf->count);
	WRITE_ONCE(desc->closed, subbuf->closed);
	/*
	 * Pairs with the acquire in the reader's subbuf_used(), which rechecks the state after the
	 * head: the head changes after this store.
	 */
	smp_store_release(&desc->state, POSIXTRACE_SUBBUF_CLOSED);
}

/* Hand out a sub-buffer that is free and not in a list. */
static void open_for(struct pxt_pool *pool, struct pxt_subbuf *subbuf, u32 cpu)
{
	struct posixtrace_cpu_head *head = pxt_pool_head(pool, cpu);
	u32 i = subbuf - pool->subbuf;
	struct posixtrace_subbuf *desc = &pool->desc[i];
	u32 start = i * pool->subbuf_size;

	pool->seq++;
	/* A consumer position of 0 is never valid, so skip the sequence number 0. */
	if (!(u32)pool->seq)
		pool->seq++;
	subbuf->seq = pool->seq;
	subbuf->opened = pxt_clock_now();
	subbuf->cpu = cpu;
	subbuf->state = POSIXTRACE_SUBBUF_OPEN;
	subbuf->used = 0;
	subbuf->count = 0;

	WRITE_ONCE(head->last, subbuf->opened);
	/* Equals no head, so a struct posixtrace_writer must precede the first record. */
	WRITE_ONCE(head->writer_head, POSIXTRACE_HEAD_NONE);
	/*
	 * Pairs with the acquire in the reader's subbuf_used(), which must not mistake the old head
	 * for the head of the new use.
	 */
	smp_store_release(&head->head, POSIXTRACE_HEAD(start, 0));
	WRITE_ONCE(desc->seq, subbuf->seq);
	WRITE_ONCE(desc->opened, subbuf->opened);
	WRITE_ONCE(desc->cpu, cpu);
	/* Pairs with the acquire in the reader's subbuf_used(): the head is new. */
	smp_store_release(&desc->state, POSIXTRACE_SUBBUF_OPEN);
	/* Pairs with the acquire in the reader's peek_subbuf(). */
	smp_store_release(&pool->reader->consumed[i].position,
			  POSIXTRACE_CONSUMED(subbuf->seq, 0, 0));

	if (cpu < pool->nr_cpus)
		WRITE_ONCE(pool->used, pool->used + 1);
	else if (cpu > pool->nr_cpus)
		WRITE_ONCE(pool->kernel_used, pool->kernel_used + 1);
	if (list_empty(&pool->cpu[cpu].subbufs)) {
		list_add_tail(&subbuf->cpu_node, &pool->cpu[cpu].subbufs);
		/* Pairs with the acquire in the reader's pxtu_subbuf_peek(). */
		smp_store_release(&pool->oldest[cpu], i);
		pxt_reclaim_set_holder(pool, cpu, true);
	} else {
		list_add_tail(&subbuf->cpu_node, &pool->cpu[cpu].subbufs);
	}
	WRITE_ONCE(pool->cpu[cpu].open, i);
	WRITE_ONCE(head->limit, start + pool->subbuf_size);
}

/* Free an orphaned sub-buffer if it was completely read. Returns true if it was freed. */
static bool close_read(struct pxt_pool *pool, struct pxt_subbuf *subbuf)
{
	lockdep_assert_held(&pool->lock);
	if (!is_orphaned(subbuf) || !pxt_reclaim_is_read(pool, subbuf))
		return false;
	close_open(pool, subbuf->cpu);
	/* close_open() has already freed it if it was empty. */
	if (subbuf->state != POSIXTRACE_SUBBUF_FREE)
		pxt_reclaim_free(pool, subbuf);
	return true;
}

static struct pxt_subbuf *take_free(struct pxt_subbuf_kind *kind)
{
	struct pxt_subbuf *subbuf;

	subbuf = list_first_entry_or_null(&kind->free, struct pxt_subbuf, node);
	if (subbuf)
		list_del_init(&subbuf->node);
	return subbuf;
}

/* Take an orphaned sub-buffer that was completely read. */
static struct pxt_subbuf *take_orphaned(struct pxt_pool *pool)
{
	struct pxt_subbuf *subbuf;

	list_for_each_entry(subbuf, &pool->orphaned, node) {
		if (close_read(pool, subbuf))
			return take_free(&pool->user);
	}
	return NULL;
}

/* Take a sub-buffer without unread records. */
static struct pxt_subbuf *take_empty(struct pxt_pool *pool, struct pxt_subbuf_kind *kind)
{
	struct pxt_subbuf *subbuf = take_free(kind);

	if (!subbuf)
		subbuf = pxt_reclaim_read(pool, kind);
	if (!subbuf && kind == &pool->user)
		subbuf = take_orphaned(pool);
	return subbuf;
}

/* LOOP: take the oldest closed or orphaned sub-buffer, even if unread. */
static struct pxt_subbuf *take_oldest(struct pxt_pool *pool)
{
	struct pxt_subbuf *orphan, *closed, *subbuf = NULL;

	orphan = list_first_entry_or_null(&pool->orphaned, struct pxt_subbuf, node);
	closed = pxt_reclaim_first(&pool->user);
	if (orphan && (!closed || orphan->closed <= closed->closed)) {
		close_open(pool, orphan->cpu);
		/* An orphan with an invalid head counts as empty, so close_open() has freed it. */
		subbuf = take_free(&pool->user);
	}
	return subbuf ? subbuf : pxt_reclaim_oldest(pool, &pool->user);
}

static int next_locked(struct pxt_pool *pool, u32 cpu, u32 size)
{
	struct pxt_subbuf *subbuf;

	if (pool->dead)
		return -ESHUTDOWN;
	/* The event does not count as lost: its writer tries again, and sees the gate shut. */
	if (pool->clearing)
		return -EAGAIN;
	if (pool->full) {
		WRITE_ONCE(pool->heads[cpu].lost, READ_ONCE(pool->heads[cpu].lost) + 1);
		return -ENOSPC;
	}
	/* Another thread may already have opened a sub-buffer on this CPU. */
	if (has_room(pool, cpu, size))
		return 0;
	subbuf = take_empty(pool, &pool->user);
	if (!subbuf && !pool->loop)
		return -ENOBUFS;
	close_open(pool, cpu);
	if (!subbuf)
		subbuf = take_free(&pool->user);
	if (!subbuf)
		subbuf = take_oldest(pool);
	/* CPUs hold all sub-buffers, because there are more CPUs than at CREATE. */
	if (!subbuf)
		return -EAGAIN;
	open_for(pool, subbuf, cpu);
	return 0;
}

/**
 * pxt_subbuf_next() - make room for a record on this CPU
 * @pool: any
 * @size: maximum bytes needed for the record, at most a sub-buffer
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN if other CPUs hold all sub-buffers or the stream is being cleared; -ENOBUFS if
 * none is free and the stream must become full; -ENOSPC if it is full, with the event counted as
 * lost; -ESHUTDOWN.
 */
int pxt_subbuf_next(struct pxt_pool *pool, u32 size)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&pool->lock, flags);
	ret = next_locked(pool, smp_processor_id(), size);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return ret;
}

/* CPUs hold all sub-buffers for kernel events, because there are more CPUs than at CREATE. */
static void lose_kernel_event(struct pxt_pool *pool)
{
	pxt_gap_begin(pool);
	pxt_gap_add(pool, pxt_clock_now());
	pxt_gap_end(pool);
}

static int next_kernel_locked(struct pxt_pool *pool, u32 cpu)
{
	struct pxt_subbuf *subbuf;

	if (pool->dead)
		return -ESHUTDOWN;
	if (pool->full || pool->kernel_full)
		return -ENOSPC;
	subbuf = take_empty(pool, &pool->kernel);
	if (!subbuf && !pool->loop) {
		pool->kernel_full_since = pxt_clock_now();
		/* Pairs with the check in pxt_recorder_begin(), which drops events until START. */
		WRITE_ONCE(pool->kernel_full, true);
		return -ENOBUFS;
	}
	close_open(pool, cpu);
	if (!subbuf)
		subbuf = take_free(&pool->kernel);
	if (!subbuf)
		subbuf = pxt_reclaim_oldest(pool, &pool->kernel);
	if (!subbuf) {
		lose_kernel_event(pool);
		return -EAGAIN;
	}
	open_for(pool, subbuf, cpu);
	return 0;
}

/**
 * pxt_subbuf_next_kernel() - make room for a kernel event
 * @pool: any
 * @cpu: index in pxt_pool.cpu; the caller holds its lock in the recorder
 *
 * Context: interrupts are off; scheduler locks may be held.
 * Return: 0; -EAGAIN if CPUs hold all sub-buffers; -ENOBUFS if none is free and the stream must
 * become full; -ENOSPC if it is full or about to be; -ESHUTDOWN. On error, the event is lost.
 */
int pxt_subbuf_next_kernel(struct pxt_pool *pool, u32 cpu)
{
	int ret;

	raw_spin_lock(&pool->lock);
	ret = next_kernel_locked(pool, cpu);
	raw_spin_unlock(&pool->lock);
	return ret;
}

/**
 * pxt_subbuf_release() - release a sub-buffer for the reader
 * @pool: any
 * @i: its number
 *
 * Return: 0; -EBUSY if it is in use or was not completely read; -EINVAL if there is no such
 * sub-buffer; -ESHUTDOWN.
 */
int pxt_subbuf_release(struct pxt_pool *pool, u32 i)
{
	struct pxt_subbuf *subbuf;
	unsigned long flags;
	int err = 0;

	if (i >= pxt_pool_nr_subbufs(pool))
		return -EINVAL;
	i = array_index_nospec(i, pxt_pool_nr_subbufs(pool));
	raw_spin_lock_irqsave(&pool->lock, flags);
	if (pool->dead) {
		err = -ESHUTDOWN;
		goto unlock;
	}
	subbuf = &pool->subbuf[i];
	if (close_read(pool, subbuf))
		goto unlock;
	if (subbuf->state != POSIXTRACE_SUBBUF_CLOSED || !pxt_reclaim_is_read(pool, subbuf))
		err = -EBUSY;
	else
		pxt_reclaim_free(pool, subbuf);
unlock:
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return err;
}

/* Is the oldest sub-buffer before the overwrite watermark, so that the reader would skip it? */
static bool oldest_sys_is_lost(struct pxt_pool *pool)
{
	const struct pxt_subbuf *subbuf = pxt_reclaim_first(&pool->sys);

	return subbuf && subbuf->closed <= pool->gaps.overwrite_watermark;
}

/* Make room for @size bytes. If @size is 0, open a new sub-buffer unless the open one is empty. */
static int next_sys_locked(struct pxt_pool *pool, u32 size)
{
	u32 cpu = pool->nr_cpus, used, count;
	struct pxt_subbuf *subbuf;

	if (size && has_room(pool, cpu, size))
		return 0;
	if (!size && pool->cpu[cpu].open != POSIXTRACE_NONE) {
		measure_open(pool, cpu, &used, &count);
		if (!used)
			return 0;
	}
	subbuf = take_empty(pool, &pool->sys);
	if (!subbuf && pool->loop &&
	    (pool->nr_sys_made == pool->nr_sys || oldest_sys_is_lost(pool)))
		subbuf = pxt_reclaim_oldest(pool, &pool->sys);
	if (!subbuf)
		return -ENOBUFS;
	close_open(pool, cpu);
	open_for(pool, subbuf, cpu);
	return 0;
}

/**
 * pxt_subbuf_next_sys() - make room for system events
 * @pool: not dead; its stream is locked
 * @size: total bytes of the records, at most a sub-buffer
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ENOSPC if there is no room and overwriting is not allowed.
 */
int pxt_subbuf_next_sys(struct pxt_pool *pool, u32 size)
{
	unsigned long flags;
	int ret;

	for (;;) {
		raw_spin_lock_irqsave(&pool->lock, flags);
		ret = next_sys_locked(pool, size);
		raw_spin_unlock_irqrestore(&pool->lock, flags);
		if (ret != -ENOBUFS)
			return ret;
		ret = pxt_pool_make_sys(pool);
		if (ret)
			return ret;
	}
}

/**
 * pxt_subbuf_turn_sys() - close the open sub-buffer of system events, and open another
 * @pool: not dead; its stream is locked
 *
 * On return, the open sub-buffer has room for STOP, even after an error. Context: may sleep.
 *
 * Return: 0, also if the open sub-buffer is empty and stays open; otherwise as
 * pxt_subbuf_next_sys(): the open sub-buffer stays open.
 */
int pxt_subbuf_turn_sys(struct pxt_pool *pool)
{
	return pxt_subbuf_next_sys(pool, 0);
}

/**
 * pxt_subbuf_renew_sys() - hand out the open sub-buffer of system events again if empty
 * @pool: not dead; its stream is locked
 *
 * An event recorded during a flush must count as younger than the events that this flush writes,
 * even if the sub-buffer was opened earlier: a LOOP log overwrites the oldest ones.
 */
void pxt_subbuf_renew_sys(struct pxt_pool *pool)
{
	u32 cpu = pool->nr_cpus, used, count;
	struct pxt_subbuf *subbuf;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (pool->cpu[cpu].open == POSIXTRACE_NONE)
		goto unlock;
	measure_open(pool, cpu, &used, &count);
	if (used)
		goto unlock;
	/* Closing the empty sub-buffer frees it, so at least one is free to take. */
	close_open(pool, cpu);
	subbuf = take_empty(pool, &pool->sys);
	if (subbuf)
		open_for(pool, subbuf, cpu);
unlock:
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/*
 * Call @fn for all CPUs with the lock. Drop the lock in between, because each head is in the cache
 * of another CPU, so a pass over many CPUs takes long.
 */
static void visit_cpus(struct pxt_pool *pool, void (*fn)(struct pxt_pool *pool, u32 cpu))
{
	unsigned long flags;
	u32 cpu;

	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		raw_spin_lock_irqsave(&pool->lock, flags);
		fn(pool, cpu);
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	}
}

static void set_head_full(struct pxt_pool *pool, u32 cpu)
{
	WRITE_ONCE(pool->heads[cpu].limit, POSIXTRACE_LIMIT_FULL);
}

static void clear_head_full(struct pxt_pool *pool, u32 cpu)
{
	WRITE_ONCE(pool->heads[cpu].limit, 0);
}

/**
 * pxt_subbuf_set_full() - stop handing out sub-buffers
 * @pool: not dead; its stream is locked
 * @forced: even if a sub-buffer is free
 *
 * A synchronization must follow, and then pxt_subbuf_close_all().
 *
 * Return: false if a sub-buffer is free and @forced is not set: there was no change.
 */
bool pxt_subbuf_set_full(struct pxt_pool *pool, bool forced)
{
	struct pxt_subbuf *subbuf = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (!forced)
		subbuf = take_empty(pool, &pool->user);
	if (subbuf)
		list_add(&subbuf->node, &pool->user.free);
	else
		/*
		 * From now on, sub-buffers are not handed out, and the recorder drops events.
		 * Writers in the kernel read @full with interrupts off. Pairs with the
		 * synchronization, which waits for writers that still read false.
		 */
		WRITE_ONCE(pool->full, true);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	if (!subbuf)
		visit_cpus(pool, set_head_full);
	if (!subbuf && pool->recorder)
		pxt_recorder_synchronize(pool->recorder);
	return !subbuf;
}

/**
 * pxt_subbuf_close_kernel() - close the open sub-buffers of kernel events
 * @pool: not dead; its stream is locked
 *
 * Includes offline CPUs: the lock of a CPU is enough to close its sub-buffer. CPUs may open new
 * ones at any time.
 */
void pxt_subbuf_close_kernel(struct pxt_pool *pool)
{
	struct pxt_recorder *recorder = pool->recorder;
	unsigned long flags;
	u32 cpu;

	for (cpu = 0; recorder && cpu < recorder->nr_cpus; cpu++) {
		raw_spin_lock_irqsave(&recorder->cpu[cpu].lock, flags);
		pxt_recorder_leave(&recorder->cpu[cpu]);
		raw_spin_lock(&pool->lock);
		close_open(pool, pxt_pool_kernel_writer(pool, cpu));
		raw_spin_unlock(&pool->lock);
		raw_spin_unlock_irqrestore(&recorder->cpu[cpu].lock, flags);
	}
}

/**
 * pxt_subbuf_close_orphaned() - close all orphaned sub-buffers
 * @pool: not dead
 *
 * Closes them in the order in which they were orphaned, as the lists of closed sub-buffers require.
 * A CPU that comes online takes its sub-buffer back, with the lock, before it runs any writer.
 */
void pxt_subbuf_close_orphaned(struct pxt_pool *pool)
{
	struct pxt_subbuf *subbuf;
	unsigned long flags;

	do {
		raw_spin_lock_irqsave(&pool->lock, flags);
		subbuf = list_first_entry_or_null(&pool->orphaned, struct pxt_subbuf, node);
		if (subbuf)
			close_open(pool, subbuf->cpu);
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	} while (subbuf);
}

/**
 * pxt_subbuf_close_all() - close the open sub-buffers of all CPUs
 * @pool: full, and synchronized since then; of a stream that is locked
 */
void pxt_subbuf_close_all(struct pxt_pool *pool)
{
	pxt_subbuf_close_orphaned(pool);
	visit_cpus(pool, close_open);
	pxt_subbuf_close_kernel(pool);
}

/**
 * pxt_subbuf_not_before() - prevent records older than a time
 * @pool: memory of a suspended stream without active writers
 * @time: nanoseconds since the Epoch
 */
void pxt_subbuf_not_before(struct pxt_pool *pool, u64 time)
{
	unsigned long flags;
	u32 cpu;

	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		raw_spin_lock_irqsave(&pool->lock, flags);
		WRITE_ONCE(pool->heads[cpu].last, time);
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	}
}

/**
 * pxt_subbuf_close_cpu() - close the open sub-buffer of a CPU
 * @pool: not dead
 * @cpu: this CPU, after pxt_rseq_abort_current(); or nr_cpus for system events, with the stream's
 *	lock
 *
 * Context: any but NMI.
 */
void pxt_subbuf_close_cpu(struct pxt_pool *pool, u32 cpu)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	close_open(pool, cpu);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_clear_full() - hand out sub-buffers again
 * @pool: not dead; its stream is locked
 */
void pxt_subbuf_clear_full(struct pxt_pool *pool)
{
	unsigned long flags;

	visit_cpus(pool, clear_head_full);
	raw_spin_lock_irqsave(&pool->lock, flags);
	pool->clearing = false;
	WRITE_ONCE(pool->full, false);
	WRITE_ONCE(pool->kernel_full, false);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_leave() - orphan the open sub-buffer of a CPU that has gone offline
 * @pool: any
 * @cpu: does not run tasks; its stores are visible here
 *
 * Other CPUs may take it from now on. It is not closed yet: otherwise the stream would lose a
 * nearly empty sub-buffer each time the CPU goes off and on.
 */
void pxt_subbuf_leave(struct pxt_pool *pool, u32 cpu)
{
	struct pxt_subbuf *subbuf;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (!pool->dead && pool->cpu[cpu].open != POSIXTRACE_NONE) {
		subbuf = &pool->subbuf[pool->cpu[cpu].open];
		subbuf->closed = pxt_clock_now();
		list_move_tail(&subbuf->node, &pool->orphaned);
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_return() - return an orphaned sub-buffer to its CPU when that comes online
 * @pool: any
 * @cpu: does not run tasks yet
 *
 * No effect if another CPU has taken it.
 */
void pxt_subbuf_return(struct pxt_pool *pool, u32 cpu)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (!pool->dead && pool->cpu[cpu].open != POSIXTRACE_NONE)
		list_del_init(&pool->subbuf[pool->cpu[cpu].open].node);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_count() - count recorded and overwritten events
 * @pool: not dead; its stream is locked
 * @stats: result
 */
void pxt_subbuf_count(struct pxt_pool *pool, struct posixtrace_stats *stats)
{
	u32 cpu, used, count;
	unsigned long flags;

	stats->recorded = 0;
	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		count = 0;
		raw_spin_lock_irqsave(&pool->lock, flags);
		if (pool->cpu[cpu].open != POSIXTRACE_NONE)
			measure_open(pool, cpu, &used, &count);
		stats->recorded += pool->cpu[cpu].recorded + count;
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	}
	raw_spin_lock_irqsave(&pool->lock, flags);
	stats->overwritten = pool->gaps.lost - pool->gaps.lost_sys - pool->gaps.lost_kernel;
	stats->overwritten_system = pool->gaps.lost_sys + pool->gaps.lost_kernel;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}
