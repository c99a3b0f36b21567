// SPDX-License-Identifier: GPL-2.0
/*
 * Waking the readers of a stream, and telling its writers whether that is needed.
 * How a reader goes to sleep is in stream/wait.c.
 */
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "ring/reclaim.h"
#include "ring/wake.h"

/* Ask writers to wake readers, or not to. With the lock of the wait queue. */
static void set_need_wakeup(struct pxt_pool *pool, bool need_wakeup)
{
	WRITE_ONCE(pool->need_wakeup, need_wakeup);
	WRITE_ONCE(pool->wakeup->need_wakeup, need_wakeup);
}

/*
 * Clear need_wakeup if the queue is empty, with the lock of the queue. A reader that joins
 * later sets it again, or looks at it again before it sleeps.
 */
static void disarm_locked(struct pxt_pool *pool)
{
	/* The memory is there until wake_ended is set, under the same lock. */
	if (list_empty(&pool->wait.head) && !pool->wake_ended)
		set_need_wakeup(pool, false);
}

/**
 * pxt_wake_init() - no reader waits yet
 * @pool: new
 */
void pxt_wake_init(struct pxt_pool *pool)
{
	init_waitqueue_head(&pool->wait);
}

/**
 * pxt_wake_arm() - ask writers to wake readers
 * @pool: of a stream that is locked, and not dead
 *
 * If need_wakeup was clear, a synchronization has to follow.
 *
 * Return: whether it was set before.
 */
bool pxt_wake_arm(struct pxt_pool *pool)
{
	unsigned long flags;
	bool was;

	spin_lock_irqsave(&pool->wait.lock, flags);
	was = pool->need_wakeup;
	if (!was)
		set_need_wakeup(pool, true);
	spin_unlock_irqrestore(&pool->wait.lock, flags);
	return was;
}

/**
 * pxt_wake_disarm() - a reader does not wait any more
 * @pool: any
 *
 * Clears need_wakeup if no other reader waits.
 */
void pxt_wake_disarm(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wait.lock, flags);
	disarm_locked(pool);
	spin_unlock_irqrestore(&pool->wait.lock, flags);
}

/**
 * pxt_wake_end() - clear need_wakeup for the last time
 * @pool: of a stream that is locked, and dead
 *
 * Does not wake sleeping readers.
 */
void pxt_wake_end(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wait.lock, flags);
	set_need_wakeup(pool, false);
	pool->wake_ended = true;
	spin_unlock_irqrestore(&pool->wait.lock, flags);
}

/**
 * pxt_wake() - something was recorded
 * @pool: of a stream that the caller has a reference to, or found under RCU
 *
 * Context: not with interrupts off.
 */
void pxt_wake(struct pxt_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->wait.lock, flags);
	wake_up_locked_poll(&pool->wait, EPOLLIN | EPOLLRDNORM);
	disarm_locked(pool);
	spin_unlock_irqrestore(&pool->wait.lock, flags);
}

/**
 * pxt_wake_look() - a writer may have gone without WAKE
 * @pool: of a stream that the caller has a reference to, or found under the lock of its
 *	table
 *
 * Wakes the readers if there is something to read. Context: not with interrupts off.
 */
void pxt_wake_look(struct pxt_pool *pool)
{
	if (READ_ONCE(pool->need_wakeup) && pxt_reclaim_reportable(pool))
		pxt_wake(pool);
}
