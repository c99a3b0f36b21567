/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FORK_H
#define PXT_FORK_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

struct pxt_target;

/**
 * struct pxt_fork_pool - what the forks of a process need, made beforehand
 * @lock: guards the rest. Raw, for a fork is noticed with preemption off
 * @free: struct pxt_fork
 * @count: how many; when nobody forks, at least as many as there are threads
 */
struct pxt_fork_pool {
	raw_spinlock_t lock;
	struct list_head free;
	u32 count;
};

void pxt_fork_pool_init(struct pxt_fork_pool *pool);
void pxt_fork_pool_destroy(struct pxt_fork_pool *pool);
int pxt_fork_reserve(struct pxt_fork_pool *pool, u32 count);

void pxt_fork_noticed(struct task_struct *child);
int pxt_fork_wait(struct task_struct *task);

#endif /* PXT_FORK_H */
