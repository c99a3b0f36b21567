// SPDX-License-Identifier: GPL-2.0
/*
 * Wakes the readers of a stream. need_wakeup tells its writers that a reader sleeps. stream/wait.c
 * puts readers to sleep.
 *
 * A wake-up clears need_wakeup, so writers make one system call each time a reader sleeps, not one
 * per event. A reader that goes back to sleep sets need_wakeup again, and so do poll() and epoll
 * when they check the stream and find no events. An edge-triggered poller expects a wake-up for
 * every event, and need not check the stream in between: while such a poller is queued, need_wakeup
 * stays set.
 *
 * A stream can delay wake-ups until wakeup_bytes are unread or the oldest record is wakeup_ns old.
 * In such a stream, the first WAKE after need_wakeup was set only starts a timer and marks the
 * readers as pending. Pending readers are woken when the timer expires, when the kernel has closed
 * enough sub-buffers, when a system event is recorded, and when a traced process ends.
 *
 * A reader may defer its records, that is, not report them before a given time. Until then,
 * sleeping readers are also pending, and only the timer, a system event, and the end of the last
 * traced process wake them.
 */
#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "compat.h"
#include "ring/reclaim.h"
#include "ring/wake.h"

/* Ask writers to wake readers, or not to. Called with the lock of the wait queue. */
static void set_need_wakeup(struct pxt_pool *pool, bool need_wakeup)
{
	WRITE_ONCE(pool->wake.need_wakeup, need_wakeup);
	WRITE_ONCE(pool->wakeup->need_wakeup, need_wakeup);
}

/*
 * Clear need_wakeup. Called with the lock of the queue. A reader that has joined it and was not
 * woken checks need_wakeup again before it sleeps.
 */
static void disarm_locked(struct pxt_pool *pool)
{
	if (list_empty(&pool->wake.wait.head)) {
		pool->wake.edges = false;
		pool->wake.pending = false;
	}
	/* The memory exists until @ended is set, under the same lock. */
	if (!pool->wake.edges && !pool->wake.ended)
		set_need_wakeup(pool, false);
}

/*
 * Wake all readers. Called with the lock of the queue. A timer still running will find no pending
 * reader.
 */
static void wake_locked(struct pxt_pool *pool)
{
	pool->wake.pending = false;
	wake_up_locked_poll(&pool->wake.wait, EPOLLIN | EPOLLRDNORM);
	disarm_locked(pool);
}

/*
 * Do closed sub-buffers fill wakeup_bytes? Called with the lock of the queue. NEXT takes that lock
 * after it has closed a sub-buffer, so either this function counts that sub-buffer, or
 * pxt_wake_filled() sees that the readers are pending.
 */
static bool is_filled(const struct pxt_pool *pool)
{
	u64 closed = (u64)READ_ONCE(pool->user_closed) + READ_ONCE(pool->kernel_closed);

	return pool->wake.bytes && closed * pool->subbuf_size >= pool->wake.bytes;
}

/*
 * Make the readers pending: wake them after @ns (the rest of a deferral, or 0) plus wakeup_ns.
 * Called with the lock of the queue. wakeup_ns counts from the end of the deferral, so that the
 * reader finds more than one record.
 */
static void pend_locked(struct pxt_pool *pool, u64 ns)
{
	if (!pool->wake.ended) {
		pool->wake.pending = true;
		hrtimer_start(&pool->wake.timer, ns_to_ktime(ns + pool->wake.ns),
			      HRTIMER_MODE_REL_SOFT);
	}
}

/*
 * Leave the readers asleep for now. Called with the lock of the queue. They rely on the timer and
 * on pxt_wake_filled(), so need_wakeup is cleared: further records need no WAKE. Returns false if
 * they must be woken now.
 */
static bool defer_locked(struct pxt_pool *pool)
{
	u64 deferred = pxt_reclaim_deferred(pool);

	if (pool->wake.ended || list_empty(&pool->wake.wait.head))
		return false;
	if (!deferred && ((!pool->wake.bytes && !pool->wake.ns) || is_filled(pool)))
		return false;
	if (!pool->wake.pending && (deferred || pool->wake.ns))
		pend_locked(pool, deferred);
	pool->wake.pending = true;
	disarm_locked(pool);
	return true;
}

/* Runs in a softirq when wakeup_ns has passed, and the deferral if there was one. */
static enum hrtimer_restart expire(struct hrtimer *timer)
{
	struct pxt_pool *pool = container_of(timer, struct pxt_pool, wake.timer);
	unsigned long flags;
	u64 deferred;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	if (pool->wake.pending) {
		/* The timer may have been started before the reader deferred the records. */
		deferred = pxt_reclaim_deferred(pool);
		if (deferred)
			pend_locked(pool, deferred);
		else
			wake_locked(pool);
	}
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * pxt_wake_init() - initialize without waiting readers
 * @pool: new
 */
void pxt_wake_init(struct pxt_pool *pool)
{
	init_waitqueue_head(&pool->wake.wait);
	pxt_hrtimer_setup(&pool->wake.timer, expire, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/**
 * pxt_wake_arm() - ask writers to wake readers
 * @pool: memory of a stream that is locked and not dead
 * @edges: for a queued poller that need not check again before the next wake-up
 *
 * If need_wakeup was clear, the caller must synchronize with the writers. While the reader defers
 * its records, this is not needed, because the timer wakes the reader. A poller with @edges is an
 * exception: it might not check again after the timer has expired.
 *
 * Return: true if no synchronization is needed.
 */
bool pxt_wake_arm(struct pxt_pool *pool, bool edges)
{
	unsigned long flags;
	u64 deferred;
	bool was;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	deferred = pxt_reclaim_deferred(pool);
	if (deferred && !pool->wake.pending)
		pend_locked(pool, deferred);
	was = pool->wake.need_wakeup || (deferred && !edges);
	if (!was) {
		pool->wake.round++;
		set_need_wakeup(pool, true);
	}
	if (edges)
		pool->wake.edges = true;
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
	return was;
}

/**
 * pxt_wake_round() - get the number of times need_wakeup was set
 * @pool: memory of a stream that is locked
 */
u32 pxt_wake_round(const struct pxt_pool *pool)
{
	return READ_ONCE(pool->wake.round);
}

/**
 * pxt_wake_may_sleep() - check that need_wakeup is set and was not cleared since a given round
 * @pool: any; the caller is queued, and has found no reportable event since it was queued
 * @round: from pxt_wake_round(), after pxt_wake_arm()
 *
 * If need_wakeup was cleared and set again, the synchronization for that may not have ended, and a
 * writer may still record without a wake-up.
 *
 * Return: true if the caller may sleep: the next wake-up or the timer reaches it.
 */
bool pxt_wake_may_sleep(struct pxt_pool *pool, u32 round)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	ret = (pool->wake.need_wakeup && pool->wake.round == round) ||
	      (pool->wake.pending && pxt_reclaim_deferred(pool));
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
	return ret;
}

/**
 * pxt_wake_disarm() - note that a reader has stopped waiting
 * @pool: any
 *
 * Clears need_wakeup if no other reader is waiting.
 */
void pxt_wake_disarm(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	if (list_empty(&pool->wake.wait.head))
		disarm_locked(pool);
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
}

/**
 * pxt_wake_defer() - defer records: the reader does not report them before a given time
 * @pool: any
 * @until: that time, of the stream's clock; 0 if the reader reports all records
 *
 * Queued readers are woken at that time. A poller need not check earlier.
 */
void pxt_wake_defer(struct pxt_pool *pool, u64 until)
{
	bool was_deferred, waits;
	unsigned long flags;
	u64 deferred;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	was_deferred = pxt_reclaim_deferred(pool);
	WRITE_ONCE(pool->wake.defer_until, until);
	deferred = pxt_reclaim_deferred(pool);
	waits = pool->wake.pending || !list_empty(&pool->wake.wait.head);
	if (deferred && waits)
		pend_locked(pool, deferred);
	else if (was_deferred && pool->wake.pending)
		wake_locked(pool);
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
}

/**
 * pxt_wake_end() - clear need_wakeup for the last time
 * @pool: memory of a stream that is locked and dead
 *
 * Does not wake sleeping readers. Context: may sleep.
 */
void pxt_wake_end(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	set_need_wakeup(pool, false);
	pool->wake.pending = false;
	pool->wake.ended = true;
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
	/* The timer cannot be started again: @ended is set. */
	hrtimer_cancel(&pool->wake.timer);
}

/**
 * pxt_wake() - wake readers after an event was recorded
 * @pool: memory of a stream that the caller has a reference to or has found under RCU
 *
 * Wakes all readers, or leaves them pending as requested by the stream. Clears need_wakeup unless
 * an edge-triggered poller is queued.
 *
 * Context: not with interrupts off.
 */
void pxt_wake(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	if (!defer_locked(pool))
		wake_locked(pool);
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
}

/**
 * pxt_wake_now() - wake readers immediately after an event was recorded
 * @pool: as for pxt_wake()
 *
 * Context: not with interrupts off.
 */
void pxt_wake_now(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	WRITE_ONCE(pool->wake.defer_until, 0);
	wake_locked(pool);
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
}

/**
 * pxt_wake_filled() - wake pending readers after a sub-buffer was closed
 * @pool: as for pxt_wake()
 *
 * Wakes them only if the closed sub-buffers fill wakeup_bytes and the reader does not defer its
 * records. Context: not with interrupts off.
 */
void pxt_wake_filled(struct pxt_pool *pool)
{
	unsigned long flags;

	if (!pool->wake.bytes)
		return;
	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	if (pool->wake.pending && is_filled(pool) && !pxt_reclaim_deferred(pool))
		wake_locked(pool);
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
}

/**
 * pxt_wake_look() - wake readers if a writer may have recorded without calling WAKE
 * @pool: memory of a stream that the caller has a reference to, or has found under the lock of its
 *	table
 *
 * Does the same as WAKE if there are records to read. Context: not with interrupts off.
 */
void pxt_wake_look(struct pxt_pool *pool)
{
	if (READ_ONCE(pool->wake.need_wakeup) && pxt_reclaim_reportable(pool))
		pxt_wake(pool);
}

/**
 * pxt_wake_rest() - wake readers when a writer has gone
 * @pool: as for pxt_wake_look()
 *
 * Wakes the readers immediately if there are records to read. Context: not with interrupts off.
 */
void pxt_wake_rest(struct pxt_pool *pool)
{
	unsigned long flags;
	bool waiting;

	spin_lock_irqsave(&pool->wake.wait.lock, flags);
	waiting = pool->wake.need_wakeup || pool->wake.pending;
	spin_unlock_irqrestore(&pool->wake.wait.lock, flags);
	if (waiting && pxt_reclaim_reportable(pool))
		pxt_wake_now(pool);
}
