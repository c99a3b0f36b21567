// SPDX-License-Identifier: GPL-2.0
/*
 * Preallocated memory for the forks of a process: the tracepoint handler for forks must not
 * allocate. Used by task/fork.c.
 */
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "target/fork_pool.h"

/* Surplus entries to keep. */
#define SPARE	16

/**
 * pxt_fork_pool_init() - initialize an empty pool
 * @pool: to be initialized
 */
void pxt_fork_pool_init(struct pxt_fork_pool *pool)
{
	raw_spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->free);
	pool->count = 0;
}

/**
 * pxt_fork_pool_take() - take a struct pxt_fork from the pool
 * @pool: pool of a process
 *
 * Context: any but NMI.
 * Return: the struct, or NULL if the pool is empty.
 */
struct pxt_fork *pxt_fork_pool_take(struct pxt_fork_pool *pool)
{
	struct pxt_fork *fork;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	fork = list_first_entry_or_null(&pool->free, struct pxt_fork, node);
	if (fork) {
		list_del(&fork->node);
		WRITE_ONCE(pool->count, pool->count - 1);
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return fork;
}

/**
 * pxt_fork_pool_give() - put a struct pxt_fork into the pool
 * @pool: pool of a process
 * @fork: no longer used
 *
 * Context: any but NMI.
 */
void pxt_fork_pool_give(struct pxt_fork_pool *pool, struct pxt_fork *fork)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	list_add(&fork->node, &pool->free);
	WRITE_ONCE(pool->count, pool->count + 1);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/**
 * pxt_fork_pool_destroy() - free a pool
 * @pool: no longer used
 */
void pxt_fork_pool_destroy(struct pxt_fork_pool *pool)
{
	struct pxt_fork *fork;

	while ((fork = pxt_fork_pool_take(pool)))
		kfree(fork);
}

/**
 * pxt_fork_pool_reserve() - resize the pool: one entry for the next fork of each thread
 * @pool: pool of a process
 * @count: number of threads of the process
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int pxt_fork_pool_reserve(struct pxt_fork_pool *pool, u32 count)
{
	struct pxt_fork *fork;

	while (READ_ONCE(pool->count) > count + SPARE) {
		fork = pxt_fork_pool_take(pool);
		kfree(fork);
	}
	while (READ_ONCE(pool->count) < count) {
		fork = kmalloc(sizeof(*fork), GFP_KERNEL_ACCOUNT);
		if (!fork)
			return -ENOMEM;
		pxt_fork_pool_give(pool, fork);
	}
	return 0;
}
