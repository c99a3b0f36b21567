// SPDX-License-Identifier: GPL-2.0
/*
 * Handing out sub-buffers to the CPUs, and closing them. Knows nothing of
 * targets and of the states of a stream but that it is full. Taking sub-buffers
 * back is in reclaim.c.
 *
 * The heads are written by the traced processes: a head decides where in the
 * open sub-buffer of its CPU something is written, and never which that is.
 */
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "ring/clock.h"
#include "ring/reclaim.h"
#include "ring/subbuf.h"

static struct posixtrace_cpu_head *head_of(const struct pxt_pool *pool, u32 cpu)
{
	return cpu < pool->nr_cpus ? &pool->heads[cpu] : &pool->ctrl->system;
}

/* Where the next record goes. False without an open sub-buffer, or if the head is nonsense. */
static bool look_up(const struct pxt_pool *pool, u32 cpu, struct pxt_reservation *res)
{
	u32 open = pool->cpu[cpu].open;
	u64 start, word, pos;

	if (open == POSIXTRACE_NONE)
		return false;
	start = (u64)open * pool->subbuf_size;
	res->head = head_of(pool, cpu);
	/* Once: a target may write it at any time. */
	word = READ_ONCE(res->head->head);
	pos = POSIXTRACE_HEAD_POS(word);
	if (pos < start || pos > start + pool->subbuf_size || pos % POSIXTRACE_RECORD_ALIGN)
		return false;
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
 * Did the same thread write the record in front? Whoever can lie about that can as well change
 * what is in the record.
 */
static bool is_same(const struct pxt_reservation *res, const struct posixtrace_writer *writer)
{
	const struct posixtrace_cpu_head *head = res->head;

	return READ_ONCE(head->writer_head) == POSIXTRACE_HEAD(res->pos, res->count) &&
	       READ_ONCE(head->pid) == writer->pid && READ_ONCE(head->tid) == writer->tid &&
	       READ_ONCE(head->thread_id) == writer->thread_id;
}

/**
 * pxt_subbuf_reserve() - is there room for a record in the open sub-buffer?
 * @pool: not dead
 * @cpu: this CPU, or that of system events
 * @entry: the record, complete but for the time
 * @res: where to write where it goes
 *
 * Context: with interrupts off, or with the stream's lock for system events.
 * Return: false if not, also if the head makes no sense.
 */
bool pxt_subbuf_reserve(const struct pxt_pool *pool, u32 cpu, const struct pxt_entry *entry,
			struct pxt_reservation *res)
{
	u32 len = entry->record.data_len;

	if (!look_up(pool, cpu, res))
		return false;
	res->same = is_same(res, &entry->writer);
	return res->room >= (res->same ? POSIXTRACE_RECORD_STEP(len)
					 : POSIXTRACE_RECORD_SIZE(len));
}

/**
 * pxt_subbuf_commit() - write a record
 * @res: from pxt_subbuf_reserve(), in the same section
 * @entry: complete
 * @data: entry->record.data_len bytes
 */
void pxt_subbuf_commit(const struct pxt_reservation *res, const struct pxt_entry *entry,
		       const void *data)
{
	size_t skip = res->same ? sizeof(entry->writer) : 0;
	size_t header = sizeof(*entry) - skip;
	u32 size = POSIXTRACE_RECORD_ALIGNED(header + entry->record.data_len);
	u64 word = POSIXTRACE_HEAD(res->pos + size, res->count + 1);
	struct posixtrace_cpu_head *head = res->head;

	memcpy(res->mem, (const void *)entry + skip, header);
	memcpy(res->mem + header, data, entry->record.data_len);
	/* Nobody comes in between, so in any order, unlike in a restartable sequence. */
	WRITE_ONCE(head->pid, entry->writer.pid);
	WRITE_ONCE(head->tid, entry->writer.tid);
	WRITE_ONCE(head->thread_id, entry->writer.thread_id);
	WRITE_ONCE(head->writer_head, word);
	WRITE_ONCE(head->last, entry->record.timestamp);
	/* Pairs with the acquire of the reader and in pxt_reclaim_readable(). */
	smp_store_release(&head->head, word);
}

/* Bytes and records in what the CPU has open, whatever its head says. */
static void measure_open(const struct pxt_pool *pool, u32 cpu, u32 *used, u32 *count)
{
	u64 start = (u64)pool->cpu[cpu].open * pool->subbuf_size;
	u64 word = READ_ONCE(head_of(pool, cpu)->head);
	u64 pos = POSIXTRACE_HEAD_POS(word);

	if (pos < start || pos > start + pool->subbuf_size)
		pos = start;
	*used = (pos - start) & ~(POSIXTRACE_RECORD_ALIGN - 1);
	*count = min_t(u32, POSIXTRACE_HEAD_COUNT(word),
		       *used / sizeof(struct posixtrace_record));
}

/* Did its CPU go offline with it open? */
static bool is_orphaned(const struct pxt_subbuf *subbuf)
{
	return subbuf->state == POSIXTRACE_SUBBUF_OPEN && !list_empty(&subbuf->node);
}

/* Where it comes to, once it is closed. */
static struct list_head *list_of(struct pxt_pool *pool, const struct pxt_subbuf *subbuf)
{
	struct pxt_subbuf_kind *kind = subbuf->cpu < pool->nr_cpus ? &pool->user : &pool->sys;

	return subbuf->seq <= pool->due_until ? &kind->due : &kind->closed;
}

/*
 * Behind what its CPU has closed before: a log has that in order. If there is nothing of that
 * in its list, it is its turn, or it is about to be read and does not matter.
 */
static struct list_head *orphaned_before(struct pxt_pool *pool, struct pxt_subbuf *subbuf)
{
	struct pxt_subbuf *before = list_prev_entry(subbuf, cpu_node);

	if (&before->cpu_node == &pool->cpu[subbuf->cpu].subbufs || list_empty(&before->node) ||
	    list_of(pool, before) != list_of(pool, subbuf))
		return list_of(pool, subbuf);
	return &before->node;
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
	/* Nothing came after its CPU went: closed at that time, whenever we do it. */
	orphaned = is_orphaned(subbuf);
	if (orphaned)
		list_del_init(&subbuf->node);
	else
		subbuf->closed = pxt_clock_now();
	if (cpu < pool->nr_cpus)
		pool->recorded += subbuf->count;
	WRITE_ONCE(pool->cpu[cpu].open, POSIXTRACE_NONE);
	WRITE_ONCE(head_of(pool, cpu)->limit, 0);
	if (!subbuf->used) {
		pxt_reclaim_free(pool, subbuf);
		return;
	}
	subbuf->state = POSIXTRACE_SUBBUF_CLOSED;
	if (orphaned)
		list_add(&subbuf->node, orphaned_before(pool, subbuf));
	else
		list_add_tail(&subbuf->node, list_of(pool, subbuf));
	WRITE_ONCE(desc->used, subbuf->used);
	WRITE_ONCE(desc->count, subbuf->count);
	WRITE_ONCE(desc->closed, subbuf->closed);
	/*
	 * Pairs with the acquire in the reader's subbuf_used(), which looks at the
	 * state again after the head: the head moves on later.
	 */
	smp_store_release(&desc->state, POSIXTRACE_SUBBUF_CLOSED);
}

/* Hands out a sub-buffer that belongs to nobody. */
static void open_for(struct pxt_pool *pool, struct pxt_subbuf *subbuf, u32 cpu)
{
	struct posixtrace_cpu_head *head = head_of(pool, cpu);
	u32 i = subbuf - pool->subbuf;
	struct posixtrace_subbuf *desc = &pool->desc[i];
	u32 start = i * pool->subbuf_size;

	pool->seq++;
	/* A consumer position of 0 is nobody's. */
	if (!(u32)pool->seq)
		pool->seq++;
	subbuf->seq = pool->seq;
	subbuf->opened = pxt_clock_now();
	subbuf->cpu = cpu;
	subbuf->state = POSIXTRACE_SUBBUF_OPEN;
	subbuf->used = 0;
	subbuf->count = 0;

	WRITE_ONCE(head->last, subbuf->opened);
	/* The first record says who wrote it. */
	WRITE_ONCE(head->writer_head, POSIXTRACE_HEAD_NONE);
	/*
	 * Pairs with the acquire in the reader's subbuf_used(): it must not take
	 * the old head for that of the new use.
	 */
	smp_store_release(&head->head, POSIXTRACE_HEAD(start, 0));
	WRITE_ONCE(desc->seq, subbuf->seq);
	WRITE_ONCE(desc->opened, subbuf->opened);
	WRITE_ONCE(desc->cpu, cpu);
	/* Pairs with the acquire in the reader's subbuf_used(): the head is new. */
	smp_store_release(&desc->state, POSIXTRACE_SUBBUF_OPEN);
	/* Pairs with the acquire in the reader's peek_subbuf(). */
	smp_store_release(&pool->reader->consumed[i], POSIXTRACE_CONSUMED(subbuf->seq, 0, 0));

	if (cpu < pool->nr_cpus)
		WRITE_ONCE(pool->used, pool->used + 1);
	if (list_empty(&pool->cpu[cpu].subbufs)) {
		list_add_tail(&subbuf->cpu_node, &pool->cpu[cpu].subbufs);
		/* Pairs with the acquire in the reader's pxtu_subbuf_peek(). */
		smp_store_release(&pool->oldest[cpu], i);
	} else {
		list_add_tail(&subbuf->cpu_node, &pool->cpu[cpu].subbufs);
	}
	WRITE_ONCE(pool->cpu[cpu].open, i);
	WRITE_ONCE(head->limit, start + pool->subbuf_size);
}

/* Ends what an offline CPU has orphaned, if all was read: true if it was that, and is free now. */
static bool close_read(struct pxt_pool *pool, struct pxt_subbuf *subbuf)
{
	lockdep_assert_held(&pool->lock);
	if (!is_orphaned(subbuf) || !pxt_reclaim_is_read(pool, subbuf))
		return false;
	close_open(pool, subbuf->cpu);
	/* If it was empty. */
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

/* An orphaned sub-buffer, if it was read to its end. */
static struct pxt_subbuf *take_orphaned(struct pxt_pool *pool)
{
	struct pxt_subbuf *subbuf;

	list_for_each_entry(subbuf, &pool->orphaned, node) {
		if (close_read(pool, subbuf))
			return take_free(&pool->user);
	}
	return NULL;
}

/* One that holds nothing that is not read. */
static struct pxt_subbuf *take_empty(struct pxt_pool *pool, struct pxt_subbuf_kind *kind)
{
	struct pxt_subbuf *subbuf = take_free(kind);

	if (!subbuf)
		subbuf = pxt_reclaim_read(pool, kind);
	if (!subbuf && kind == &pool->user)
		subbuf = take_orphaned(pool);
	return subbuf;
}

/* LOOP: the oldest one, read or not, of those that are closed or orphaned. */
static struct pxt_subbuf *take_oldest(struct pxt_pool *pool)
{
	struct pxt_subbuf *orphan, *closed, *subbuf = NULL;

	orphan = list_first_entry_or_null(&pool->orphaned, struct pxt_subbuf, node);
	closed = pxt_reclaim_first(&pool->user);
	if (orphan && (!closed || orphan->closed <= closed->closed)) {
		close_open(pool, orphan->cpu);
		/* If its head makes no sense, it was freed. */
		subbuf = take_free(&pool->user);
	}
	return subbuf ? subbuf : pxt_reclaim_oldest(pool, &pool->user);
}

static int next_locked(struct pxt_pool *pool, u32 cpu, u32 size)
{
	struct pxt_subbuf *subbuf;

	if (pool->dead)
		return -ESHUTDOWN;
	if (pool->full) {
		WRITE_ONCE(pool->heads[cpu].lost, READ_ONCE(pool->heads[cpu].lost) + 1);
		return -ENOSPC;
	}
	/* Somebody else on this CPU came first. */
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
	/* More CPUs than there were when the stream was created hold all of them. */
	if (!subbuf)
		return -EAGAIN;
	open_for(pool, subbuf, cpu);
	return 0;
}

/**
 * pxt_subbuf_next() - make room for a record on the CPU that this runs on
 * @pool: any
 * @size: bytes that the record needs at most, no more than a sub-buffer
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN if all are held by other CPUs; -ENOBUFS if none is free and
 * the stream has to become full; -ENOSPC if it is full, then the event was
 * counted as lost; -ESHUTDOWN.
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

/**
 * pxt_subbuf_release() - the reader gives a sub-buffer back
 * @pool: any
 * @i: its number
 *
 * Return: 0; -EBUSY if it is in use or was not read to its end; -EINVAL if there
 * is none with that number; -ESHUTDOWN.
 */
int pxt_subbuf_release(struct pxt_pool *pool, u32 i)
{
	struct pxt_subbuf *subbuf;
	unsigned long flags;
	int err = 0;

	if (i >= pool->nr_user + pool->nr_sys)
		return -EINVAL;
	i = array_index_nospec(i, pool->nr_user + pool->nr_sys);
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

/* Unread, yet beyond the overwrite watermark: the reader would skip it. */
static bool oldest_sys_is_lost(struct pxt_pool *pool)
{
	const struct pxt_subbuf *subbuf = pxt_reclaim_first(&pool->sys);

	return subbuf && subbuf->closed <= pool->overwrite_watermark;
}

/* With @size 0: whatever room there is. */
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
 * @pool: whose stream's lock is held, and which is not dead
 * @size: bytes of the records together, at most a sub-buffer
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ENOSPC if there is no room and nothing may be overwritten.
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
 * pxt_subbuf_turn_sys() - close what system events are written into, and open another
 * @pool: whose stream's lock is held, and which is not dead
 *
 * So that there is room for STOP at any time. Context: may sleep.
 *
 * Return: 0, also if nothing was written there; else as pxt_subbuf_next_sys(), and what
 * was open is open.
 */
int pxt_subbuf_turn_sys(struct pxt_pool *pool)
{
	return pxt_subbuf_next_sys(pool, 0);
}

/**
 * pxt_subbuf_renew_sys() - what is open for system events is handed out now, if it is empty
 * @pool: whose stream's lock is held, and which is not dead
 *
 * An event that comes while a flush is under way is younger than those that this flush
 * writes, whenever the sub-buffer was opened: a LOOP log overwrites what was written first.
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
	/* It was empty: it is free now, or there is another one that is. */
	close_open(pool, cpu);
	subbuf = take_empty(pool, &pool->sys);
	if (subbuf)
		open_for(pool, subbuf, cpu);
unlock:
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_set_full() - nothing is handed out any more
 * @pool: whose stream's lock is held, and which is not dead
 * @forced: even if there is a free sub-buffer
 *
 * A synchronization has to follow, and then pxt_subbuf_close_all().
 *
 * Return: false if there is a free sub-buffer after all: then nothing was done.
 */
bool pxt_subbuf_set_full(struct pxt_pool *pool, bool forced)
{
	struct pxt_subbuf *subbuf = NULL;
	unsigned long flags;
	bool done = false;
	u32 cpu;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (!forced)
		subbuf = take_empty(pool, &pool->user);
	if (subbuf) {
		list_add(&subbuf->node, &pool->user.free);
		goto unlock;
	}
	/*
	 * Kernel writers look at it with interrupts off: pairs with the synchronization,
	 * which waits for those that did not see it.
	 */
	WRITE_ONCE(pool->full, true);
	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		WRITE_ONCE(pool->heads[cpu].flags, POSIXTRACE_HEAD_FULL);
		WRITE_ONCE(pool->heads[cpu].limit, 0);
	}
	done = true;
unlock:
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return done;
}

/**
 * pxt_subbuf_close_all() - close what the CPUs have open
 * @pool: full, and synchronized since; whose stream's lock is held
 */
void pxt_subbuf_close_all(struct pxt_pool *pool)
{
	unsigned long flags;
	u32 cpu;

	raw_spin_lock_irqsave(&pool->lock, flags);
	for (cpu = 0; cpu < pool->nr_cpus; cpu++)
		close_open(pool, cpu);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_not_before() - nothing that is recorded from now on is older than that
 * @pool: of a suspended stream, in which no writer is active
 * @time: nanoseconds since the Epoch
 */
void pxt_subbuf_not_before(struct pxt_pool *pool, u64 time)
{
	unsigned long flags;
	u32 cpu;

	raw_spin_lock_irqsave(&pool->lock, flags);
	for (cpu = 0; cpu < pool->nr_cpus; cpu++)
		WRITE_ONCE(pool->heads[cpu].last, time);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_close_cpu() - close what a CPU has open
 * @pool: not dead
 * @cpu: this CPU, whose writers begin anew; or that of system events, with the stream's
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
 * pxt_subbuf_close_orphaned() - close all orphaned sub-buffers
 * @pool: not dead
 *
 * One that comes back takes what is its own before it runs anything, with the lock.
 */
void pxt_subbuf_close_orphaned(struct pxt_pool *pool)
{
	struct pxt_subbuf *subbuf, *next;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	list_for_each_entry_safe(subbuf, next, &pool->orphaned, node)
		close_open(pool, subbuf->cpu);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_clear_full() - there is room again
 * @pool: whose stream's lock is held, and which is not dead
 */
void pxt_subbuf_clear_full(struct pxt_pool *pool)
{
	unsigned long flags;
	u32 cpu;

	raw_spin_lock_irqsave(&pool->lock, flags);
	for (cpu = 0; cpu < pool->nr_cpus; cpu++)
		WRITE_ONCE(pool->heads[cpu].flags, 0);
	WRITE_ONCE(pool->full, false);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_subbuf_leave() - a CPU is offline: whoever needs it may take what it has open
 * @pool: any
 * @cpu: runs nobody; what it wrote can be seen here
 *
 * It is not closed yet: a sub-buffer with little in it would be lost to the stream
 * each time the CPU goes off and on.
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
 * pxt_subbuf_return() - a CPU comes back: what it left and nobody took is its own
 * @pool: any
 * @cpu: runs nobody yet
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
 * pxt_subbuf_count() - how many events were recorded and overwritten
 * @pool: whose stream's lock is held, and which is not dead
 * @stats: where to write that
 */
void pxt_subbuf_count(struct pxt_pool *pool, struct posixtrace_stats *stats)
{
	u32 cpu, used, count;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	stats->recorded = pool->recorded;
	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		if (pool->cpu[cpu].open == POSIXTRACE_NONE)
			continue;
		measure_open(pool, cpu, &used, &count);
		stats->recorded += count;
	}
	stats->overwritten = pool->lost - pool->lost_sys;
	stats->overwritten_system = pool->lost_sys;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}
