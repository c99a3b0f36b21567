/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FORK_POOL_H
#define PXT_FORK_POOL_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>

#include <linux/posixtrace.h>

struct pid;
struct pxt_image;
struct pxt_stream;
struct pxt_target;

/**
 * struct pxt_fork - one new process or thread
 * @node: in the pool
 * @begun_node: in the hash pxt_forks_begun, for a process that has not run yet
 * @rcu: readers of the hash find it under RCU
 * @child_work: runs in the new process or thread
 * @parent_work: runs in the thread that called fork() or clone()
 * @users: works that have not run yet
 * @target: the forking process; a reference
 * @child: the new thread group; NULL for a thread
 * @image: the names that the child inherits; a reference, or NULL
 * @stream: streams that the child inherits, by slot; references
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
	struct pxt_image *image;
	struct pxt_stream *stream[POSIXTRACE_SLOTS_MAX];
};

/**
 * struct pxt_fork_pool - preallocated memory for the forks of a process
 * @lock: guards the rest. Raw: the handler of a fork must not sleep
 * @free: struct pxt_fork
 * @count: entries in @free; at least the number of threads, except during a fork or after a failed
 *	allocation
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

#endif /* PXT_FORK_POOL_H */
