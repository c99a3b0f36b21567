/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FORKPOOL_H
#define PXT_FORKPOOL_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>

#include <linux/posixtrace.h>

struct pid;
struct pxt_stream;
struct pxt_target;

/**
 * struct pxt_fork - one new process or thread
 * @node: in the pool
 * @begun_node: of a process that has not run yet, in the hash pxt_forks_begun
 * @rcu: found in the hash under RCU
 * @child_work: of the new one
 * @parent_work: of the thread that called fork() or clone()
 * @users: how many of these have not run
 * @target: the forking process; a reference
 * @child: the new thread group, NULL of a thread
 * @stream: those to be inherited, by slot; references
 */
struct pxt_fork {
	struct list_head node;
	struct hlist_node begun_node;
	struct rcu_head rcu;
	struct callback_head child_work;
	struct callback_head parent_work;
	refcount_t users;
	struct pxt_target *target;
	struct pid *child;
	struct pxt_stream *stream[POSIXTRACE_SLOTS_MAX];
};

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
int pxt_fork_pool_reserve(struct pxt_fork_pool *pool, u32 count);
struct pxt_fork *pxt_fork_pool_take(struct pxt_fork_pool *pool);
void pxt_fork_pool_give(struct pxt_fork_pool *pool, struct pxt_fork *fork);

#endif /* PXT_FORKPOOL_H */
