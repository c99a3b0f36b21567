// SPDX-License-Identifier: GPL-2.0
/*
 * Reclaims sub-buffers that the reader has released or completely read. May also take unread ones:
 * it records the loss of their events as a gap. subbuf.c hands sub-buffers out. All functions here
 * need pxt_pool.lock unless they take it.
 *
 * The reader takes each record by advancing the consumer position of its sub-buffer in memory it
 * can write. A forged position affects only the numbers and times of this stream.
 */
#include <linux/minmax.h>
#include <linux/nospec.h>

#include "ring/clock.h"
#include "ring/reclaim.h"
#include "ring/recorder.h"

static u32 index_of(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf)
{
	return subbuf - pool->subbuf;
}

/* How far a sub-buffer was read; 0 if the position belongs to another use of the sub-buffer. */
static void parse_consumed(const struct pxt_subbuf *subbuf, u64 consumed, u32 *pos, u32 *count)
{
	*pos = 0;
	*count = 0;
	if (POSIXTRACE_CONSUMED_SEQ(consumed) == (u32)subbuf->seq) {
		*pos = POSIXTRACE_CONSUMED_POS(consumed);
		*count = POSIXTRACE_CONSUMED_COUNT(consumed);
	}
}

static u32 read_to(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf)
{
	u32 pos, count;

	parse_consumed(subbuf, READ_ONCE(pool->reader->consumed[index_of(pool, subbuf)].position),
		       &pos, &count);
	return pos;
}

/**
 * pxt_gap_begin() - start to change the account of losses
 * @pool: locked
 */
void pxt_gap_begin(struct pxt_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(pool->ctrl->gap_lock, ++pool->gaps.seq);
	/*
	 * gap_lock is odd before any change: pairs with the acquire fence in the reader's
	 * gap_read(), between reading the account and rechecking gap_lock. gap_lock is also odd
	 * before gap_ack is read: pairs with the full fence in the reader's gap_acknowledge(),
	 * after storing gap_ack. Either the kernel sees the new gap_ack, or the reader sees that
	 * gap_lock is odd or has changed.
	 */
	smp_mb();
}

/**
 * pxt_gap_add() - add a loss to the account
 * @pool: locked, between pxt_gap_begin() and pxt_gap_end()
 * @first: time of the first event that was or will be lost
 *
 * Starts a new gap if the reader has acknowledged the last one; otherwise extends that one.
 */
void pxt_gap_add(struct pxt_pool *pool, u64 first)
{
	lockdep_assert_held(&pool->lock);
	if (READ_ONCE(pool->reader->gap_ack) == pool->gaps.generation) {
		pool->gaps.generation++;
		pool->gaps.previous_first = pool->gaps.first;
		pool->gaps.first = first;
	} else {
		pool->gaps.first = min(pool->gaps.first, first);
	}
}

/**
 * pxt_gap_end() - publish the account of losses
 * @pool: locked
 */
void pxt_gap_end(struct pxt_pool *pool)
{
	struct posixtrace_ctrl *ctrl = pool->ctrl;

	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(ctrl->gap_generation, pool->gaps.generation);
	WRITE_ONCE(ctrl->gap_first, pool->gaps.first);
	WRITE_ONCE(ctrl->previous_first, pool->gaps.previous_first);
	WRITE_ONCE(ctrl->overwrite_watermark, pool->gaps.overwrite_watermark);
	WRITE_ONCE(ctrl->lost, pool->gaps.lost);
	/* Pairs with the acquire in the reader's gap_read() and pxtu_gap_is_noted(). */
	smp_store_release(&ctrl->gap_lock, ++pool->gaps.seq);
}

/**
 * pxt_reclaim_set_holder() - publish if a CPU holds sub-buffers
 * @pool: locked
 * @cpu: index in pxt_pool.cpu
 * @holds: true if it does
 */
void pxt_reclaim_set_holder(struct pxt_pool *pool, u32 cpu, bool holds)
{
	u64 *word = &pool->holding[cpu / 64];
	u64 bit = BIT_ULL(cpu % 64);

	lockdep_assert_held(&pool->lock);
	*word = holds ? *word | bit : *word & ~bit;
	/* Pairs with the acquire in the reader's scan(): oldest[] is published. */
	smp_store_release(&pool->holders[cpu / 64], *word);
}

/* Remove a sub-buffer from its CPU. Its consumer position is already cleared. */
static void leave_cpu(struct pxt_pool *pool, struct pxt_subbuf *subbuf)
{
	struct pxt_pool_cpu *cpu = &pool->cpu[subbuf->cpu];
	struct pxt_subbuf *oldest;

	list_del_init(&subbuf->cpu_node);
	list_del_init(&subbuf->node);
	oldest = list_first_entry_or_null(&cpu->subbufs, struct pxt_subbuf, cpu_node);
	/* Pairs with the acquire in the reader's pxtu_subbuf_peek(). */
	smp_store_release(&pool->oldest[subbuf->cpu],
			  oldest ? index_of(pool, oldest) : POSIXTRACE_NONE);
	if (!oldest)
		pxt_reclaim_set_holder(pool, subbuf->cpu, false);
	if (subbuf->cpu < pool->nr_cpus) {
		pool->wrapped = false;
		WRITE_ONCE(pool->used, pool->used - 1);
		if (subbuf->state == POSIXTRACE_SUBBUF_CLOSED)
			WRITE_ONCE(pool->user_closed, pool->user_closed - 1);
	} else if (subbuf->cpu > pool->nr_cpus) {
		pool->kernel_wrapped = false;
		WRITE_ONCE(pool->kernel_used, pool->kernel_used - 1);
		if (subbuf->state == POSIXTRACE_SUBBUF_CLOSED)
			WRITE_ONCE(pool->kernel_closed, pool->kernel_closed - 1);
	}
	subbuf->state = POSIXTRACE_SUBBUF_FREE;
	WRITE_ONCE(pool->desc[index_of(pool, subbuf)].state, POSIXTRACE_SUBBUF_FREE);
}

/*
 * Clear the consumer position, so that the reader can no longer take records from the sub-buffer.
 * Sequence numbers start at 1, so 0 is never valid. The exchange precedes all other changes. Pairs
 * with the compare-and-swap of the reader's take(), which fails after it, and with the fence in the
 * reader's unchanged(), before unchanged() reads the consumer position again.
 */
static u64 end_consumed(struct pxt_pool *pool, struct pxt_subbuf *subbuf)
{
	return xchg(&pool->reader->consumed[index_of(pool, subbuf)].position, 0);
}

/**
 * pxt_reclaim_free() - put a sub-buffer on the free list
 * @pool: locked
 * @subbuf: handed out
 */
void pxt_reclaim_free(struct pxt_pool *pool, struct pxt_subbuf *subbuf)
{
	struct pxt_subbuf_kind *kind = pxt_pool_kind(pool, subbuf->cpu);

	lockdep_assert_held(&pool->lock);
	end_consumed(pool, subbuf);
	leave_cpu(pool, subbuf);
	list_add_tail(&subbuf->node, &kind->free);
}

static struct pxt_subbuf *first_of(struct list_head *list)
{
	return list_first_entry_or_null(list, struct pxt_subbuf, node);
}

/*
 * Return the sub-buffer that was closed first; @a if both were closed at the same time. Either may
 * be NULL.
 */
static struct pxt_subbuf *earlier(struct pxt_subbuf *a, struct pxt_subbuf *b)
{
	return !a || (b && b->closed < a->closed) ? b : a;
}

static struct pxt_subbuf *first_due(struct pxt_subbuf_kind *kind)
{
	return earlier(first_of(&kind->due), first_of(&kind->orphans_due));
}

/**
 * pxt_reclaim_first() - find the oldest closed sub-buffer
 * @kind: sub-buffers of one kind, of a pool that is locked
 *
 * Return: the sub-buffer, which stays in its lists; NULL if none is closed.
 */
struct pxt_subbuf *pxt_reclaim_first(struct pxt_subbuf_kind *kind)
{
	/* Due sub-buffers were handed out earlier, but others may have been closed earlier. */
	return earlier(first_due(kind),
		       earlier(first_of(&kind->closed), first_of(&kind->orphans_closed)));
}

/**
 * pxt_reclaim_read() - take the oldest closed sub-buffer if it was completely read
 * @pool: locked
 * @kind: sub-buffers of one kind
 *
 * Return: the sub-buffer, which now belongs to the caller, or NULL.
 */
struct pxt_subbuf *pxt_reclaim_read(struct pxt_pool *pool, struct pxt_subbuf_kind *kind)
{
	struct pxt_subbuf *subbuf = pxt_reclaim_first(kind);

	lockdep_assert_held(&pool->lock);
	if (!subbuf || read_to(pool, subbuf) < subbuf->used)
		return NULL;
	end_consumed(pool, subbuf);
	leave_cpu(pool, subbuf);
	return subbuf;
}

/*
 * The time of the first unread record, at @pos. If a struct posixtrace_writer precedes the record,
 * it has the full time. Otherwise only the lower half is known, and the time is less than
 * POSIXTRACE_WRITER_SPAN away from the time that the reader has stored: before the stored time if
 * the reader was about to take this record and later ones, otherwise after it. Targets and readers
 * may lie, so clamp the result to the time of the sub-buffer.
 */
static u64 time_at(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf, u32 pos)
{
	u32 left = subbuf->used - pos, i = index_of(pool, subbuf);
	const struct posixtrace_writer *writer;
	const struct posixtrace_record *record;
	u64 time;

	if (left < sizeof(*record))
		return subbuf->opened;
	/* Stay within the records even in speculation: the position comes from the reader. */
	record = pxt_pool_subbuf(pool, i) + array_index_nospec(pos, subbuf->used);
	writer = (const void *)record;
	if (POSIXTRACE_RECORD_ID(READ_ONCE(record->type)) != POSIXTRACE_ID_WRITER) {
		/*
		 * The reader stores this time before its compare-and-swap of the consumer position.
		 * Pairs with that order: here, the exchange in end_consumed() precedes this read.
		 */
		time = READ_ONCE(pool->reader->consumed[i].time);
		time += (s32)(READ_ONCE(record->time) - (u32)time);
	} else if (left >= sizeof(*writer)) {
		time = READ_ONCE(writer->time);
	} else {
		return subbuf->opened;
	}
	return clamp(time, subbuf->opened, subbuf->closed);
}

/**
 * pxt_reclaim_oldest() - take the oldest closed sub-buffer, even if unread
 * @pool: locked
 * @kind: sub-buffers of one kind
 *
 * Its unread events are lost, and with them all older events of the stream: the overwrite watermark
 * moves.
 *
 * Return: the sub-buffer, which now belongs to the caller; NULL if none is closed.
 */
struct pxt_subbuf *pxt_reclaim_oldest(struct pxt_pool *pool, struct pxt_subbuf_kind *kind)
{
	struct pxt_subbuf *subbuf = pxt_reclaim_first(kind);
	u32 pos, count;

	lockdep_assert_held(&pool->lock);
	if (!subbuf)
		return NULL;
	pxt_gap_begin(pool);
	parse_consumed(subbuf, end_consumed(pool, subbuf), &pos, &count);
	if (pos < subbuf->used) {
		count = subbuf->count - min(count, subbuf->count);
		WRITE_ONCE(pool->gaps.lost, pool->gaps.lost + count);
		if (kind == &pool->sys)
			pool->gaps.lost_sys += count;
		if (kind == &pool->kernel)
			pool->gaps.lost_kernel += count;
		pool->gaps.overwrite_watermark = max(pool->gaps.overwrite_watermark,
						     subbuf->closed);
		pxt_gap_add(pool, time_at(pool, subbuf, pos));
		pool->overrun = true;
	}
	pxt_gap_end(pool);
	leave_cpu(pool, subbuf);
	if (pos < subbuf->used && kind == &pool->user)
		pool->wrapped = true;
	if (pos < subbuf->used && kind == &pool->kernel)
		pool->kernel_wrapped = true;
	return subbuf;
}

static void make_due(struct pxt_subbuf_kind *kind)
{
	list_splice_tail_init(&kind->closed, &kind->due);
	list_splice_tail_init(&kind->orphans_closed, &kind->orphans_due);
}

/**
 * pxt_reclaim_begin_epoch() - mark all sub-buffers handed out so far as due
 * @pool: not dead, of a stream with a log; previously due sub-buffers are written or given up
 *
 * A sub-buffer that is still open becomes due when it is closed.
 */
void pxt_reclaim_begin_epoch(struct pxt_pool *pool)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	pool->due_until = pool->seq;
	make_due(&pool->user);
	make_due(&pool->sys);
	make_due(&pool->kernel);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_reclaim_take() - take the oldest due sub-buffer to write it to the log
 * @pool: not dead, of a stream with a log
 * @gap: result: the account of losses. Each loss precedes the events of this sub-buffer, or of one
 *	taken earlier
 *
 * The sub-buffer is not overwritten until the caller returns it with pxt_reclaim_done() or
 * pxt_reclaim_untake().
 *
 * Return: the sub-buffer, or NULL.
 */
struct pxt_subbuf *pxt_reclaim_take(struct pxt_pool *pool, struct posixtrace_log_block *gap)
{
	struct pxt_subbuf *subbuf;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	/*
	 * Take the sub-buffer that was closed first, of any kind, because a LOOP log overwrites in
	 * the order of writing, and must not overwrite STOP before the events that precede it.
	 */
	subbuf = earlier(earlier(first_due(&pool->user), first_due(&pool->kernel)),
			 first_due(&pool->sys));
	if (subbuf) {
		list_del_init(&subbuf->node);
		gap->gap_generation = pool->gaps.generation;
		gap->gap_first = pool->gaps.first;
		gap->overwrite_watermark = pool->gaps.overwrite_watermark;
		gap->lost = pool->gaps.lost;
		/* Acknowledge the gap, so that the next loss starts another one. */
		WRITE_ONCE(pool->reader->gap_ack, pool->gaps.generation);
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return subbuf;
}

/* The log has no events between this gap and later losses: merge them. */
static void untake_gap(struct pxt_pool *pool, const struct posixtrace_log_block *gap)
{
	if (gap->gap_generation == pool->gaps.logged)
		return;
	pxt_gap_begin(pool);
	pool->gaps.first = min(pool->gaps.first, gap->gap_first);
	pxt_gap_end(pool);
	WRITE_ONCE(pool->reader->gap_ack, pool->gaps.logged);
}

/**
 * pxt_reclaim_untake() - return a sub-buffer that could not be written
 * @pool: not dead
 * @subbuf: from pxt_reclaim_take(); becomes the oldest due one again
 * @gap: from pxt_reclaim_take()
 */
void pxt_reclaim_untake(struct pxt_pool *pool, struct pxt_subbuf *subbuf,
			const struct posixtrace_log_block *gap)
{
	struct pxt_subbuf_kind *kind = pxt_pool_kind(pool, subbuf->cpu);
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	list_add(&subbuf->node, &kind->due);
	untake_gap(pool, gap);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_reclaim_done() - free a sub-buffer that is in the log or given up
 * @pool: not dead
 * @subbuf: from pxt_reclaim_take()
 * @gap: from pxt_reclaim_take()
 */
void pxt_reclaim_done(struct pxt_pool *pool, struct pxt_subbuf *subbuf,
		      const struct posixtrace_log_block *gap)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	pool->gaps.logged = gap->gap_generation;
	pxt_reclaim_free(pool, subbuf);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/* Sub-buffers freed per section with interrupts off. */
#define BATCH	32

/* Free up to @room sub-buffers of a CPU. Returns their number. */
static u32 empty_cpu(struct pxt_pool *pool, u32 cpu, u32 room)
{
	struct pxt_subbuf *subbuf;
	u32 n = 0;

	WRITE_ONCE(pool->cpu[cpu].open, POSIXTRACE_NONE);
	while (n < room) {
		subbuf = list_first_entry_or_null(&pool->cpu[cpu].subbufs, struct pxt_subbuf,
						  cpu_node);
		if (!subbuf)
			break;
		pxt_reclaim_free(pool, subbuf);
		n++;
	}
	return n;
}

/**
 * pxt_reclaim_all() - free all sub-buffers, and forget their events and earlier losses
 * @pool: full, and synchronized since then; of a stream that is locked
 *
 * The events do not count as lost. pxt_subbuf_clear_full() must follow. Context: may sleep.
 */
void pxt_reclaim_all(struct pxt_pool *pool)
{
	unsigned long flags;
	u32 cpu = 0, done;

	raw_spin_lock_irqsave(&pool->lock, flags);
	pool->clearing = true;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	while (cpu < pool->nr_writers) {
		done = 0;
		raw_spin_lock_irqsave(&pool->lock, flags);
		do {
			done += empty_cpu(pool, cpu, BATCH - done);
			if (list_empty(&pool->cpu[cpu].subbufs)) {
				cpu++;
				done++;	/* count empty CPUs as well: there may be many */
			}
		} while (cpu < pool->nr_writers && done < BATCH);
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	}

	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		raw_spin_lock_irqsave(&pool->lock, flags);
		WRITE_ONCE(pool->heads[cpu].lost, 0);
		pool->cpu[cpu].recorded = 0;
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	}
	if (pool->recorder)
		pxt_recorder_clear(pool);
	raw_spin_lock_irqsave(&pool->lock, flags);
	pxt_gap_begin(pool);
	pool->gaps.generation = READ_ONCE(pool->reader->gap_ack);
	pool->gaps.logged = pool->gaps.generation;
	pool->gaps.first = 0;
	pool->gaps.previous_first = 0;
	pool->gaps.overwrite_watermark = 0;
	WRITE_ONCE(pool->gaps.lost, 0);
	pxt_gap_end(pool);
	pool->gaps.lost_sys = 0;
	pool->gaps.lost_kernel = 0;
	pool->overrun = false;
	pool->wrapped = false;
	pool->kernel_wrapped = false;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/* Bytes of records. Like the reader, treat a sub-buffer with an invalid head as empty. */
static u32 filled(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf)
{
	u64 start = (u64)index_of(pool, subbuf) * pool->subbuf_size;
	const struct posixtrace_cpu_head *head = pxt_pool_head(pool, subbuf->cpu);
	u32 pos;

	if (subbuf->state == POSIXTRACE_SUBBUF_CLOSED)
		return subbuf->used;
	/* Pairs with the release that commits a record, in pxt_subbuf_commit() or a target. */
	pos = POSIXTRACE_HEAD_POS(smp_load_acquire(&head->head));
	if (pos < start || pos > start + pool->subbuf_size)
		return 0;
	return (pos - start) & ~(POSIXTRACE_RECORD_ALIGN - 1);
}

/**
 * pxt_reclaim_is_read() - check if the reader has taken all records of a sub-buffer
 * @pool: locked
 * @subbuf: handed out
 *
 * Return: true if so.
 */
bool pxt_reclaim_is_read(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf)
{
	lockdep_assert_held(&pool->lock);
	return read_to(pool, subbuf) >= filled(pool, subbuf);
}

/*
 * Find the first sub-buffer of a CPU with unread records. Like RELEASE, free closed sub-buffers
 * that were completely read: if the reader never called RELEASE, each call would walk all of them
 * with interrupts off.
 */
static int cpu_readable(struct pxt_pool *pool, u32 cpu, u32 *budget)
{
	struct pxt_subbuf *subbuf;

	for (;;) {
		subbuf = list_first_entry_or_null(&pool->cpu[cpu].subbufs, struct pxt_subbuf,
						  cpu_node);
		if (!subbuf)
			return 0;
		if (!pxt_reclaim_is_read(pool, subbuf))
			return 1;
		/*
		 * The open sub-buffer is the last one of the CPU. A closed one outside all lists is
		 * being written to the log, and must not be freed.
		 */
		if (subbuf->state != POSIXTRACE_SUBBUF_CLOSED || list_empty(&subbuf->node))
			return 0;
		if (!*budget)
			return -EAGAIN;
		(*budget)--;
		pxt_reclaim_free(pool, subbuf);
	}
}

/*
 * Check CPUs that hold sub-buffers, starting at @cpu. Returns 1 or 0; -EAGAIN if the budget is
 * exhausted: continue at @cpu. Each head may be a cache miss, so the number checked with interrupts
 * off is limited. A record committed during the scan wakes the reader.
 */
static int readable(struct pxt_pool *pool, u32 *cpu)
{
	u32 word = *cpu / 64, budget = BATCH;
	u64 bits = pool->holding[word] & (~0ULL << (*cpu % 64));
	int ret;

	for (;;) {
		for (; bits; bits &= bits - 1) {
			*cpu = word * 64 + __ffs64(bits);
			if (!budget--)
				return -EAGAIN;
			ret = cpu_readable(pool, *cpu, &budget);
			if (ret)
				return ret;
		}
		if (++word > (pool->nr_writers - 1) / 64)
			return 0;
		bits = pool->holding[word];
	}
}

/**
 * pxt_reclaim_readable() - check for unread records
 * @pool: any
 *
 * Follows the rules of the reader: otherwise the kernel would keep waking the reader for records
 * that the reader cannot see. Frees sub-buffers that were completely read.
 *
 * Return: true if there are any; false if the pool is dead.
 */
bool pxt_reclaim_readable(struct pxt_pool *pool)
{
	unsigned long flags;
	u32 cpu = 0;
	int ret;

	do {
		raw_spin_lock_irqsave(&pool->lock, flags);
		ret = pool->dead ? 0 : readable(pool, &cpu);
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	} while (ret == -EAGAIN);
	return ret;
}

/**
 * pxt_reclaim_deferred() - get the remaining time of a deferral
 * @pool: any
 *
 * Return: nanoseconds until the reader reports records; 0 if it reports all of them now.
 */
u64 pxt_reclaim_deferred(const struct pxt_pool *pool)
{
	u64 until = READ_ONCE(pool->wake.defer_until);
	u64 now = until ? pxt_clock_now() : 0;

	return until > now ? until - now : 0;
}

/**
 * pxt_reclaim_reportable() - check for events that can be reported now
 * @pool: any
 *
 * Includes events that the reader has taken but not reported, and excludes deferred records. Before
 * a caller sleeps because there are no events, it must ensure that the next record or the end of
 * the deferral wakes it.
 *
 * Return: true if there are any; false if the pool is dead.
 */
bool pxt_reclaim_reportable(struct pxt_pool *pool)
{
	unsigned long flags;
	u32 cpu = 0;
	int ret;

	do {
		raw_spin_lock_irqsave(&pool->lock, flags);
		ret = pool->dead || pxt_reclaim_deferred(pool) ? 0 : readable(pool, &cpu);
		if (!pool->dead && !ret) {
			/*
			 * Read held after the consumer positions, because the reader sets held
			 * before it takes a record. Pairs with the compare-and-swap in the reader's
			 * take(), which changes the consumer position.
			 */
			smp_rmb();
			ret = !!READ_ONCE(pool->reader->held);
		}
		raw_spin_unlock_irqrestore(&pool->lock, flags);
	} while (ret == -EAGAIN);
	return ret;
}
