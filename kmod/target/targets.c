// SPDX-License-Identifier: GPL-2.0
/*
 * All targets by process id, in a two-level table, so that a lookup takes the same time for any
 * number of targets. Every fork, exec and exit of the machine does a lookup, and kernel events do
 * one under a run queue lock.
 */
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/threads.h>

#include "ring/noalloc.h"
#include "target/target.h"
#include "target/targets.h"

#define BRANCH_SIZE	256

/**
 * struct branch - targets with nearby ids
 * @rcu: readers find it under RCU
 * @used: number of targets; the branch is freed when it is empty
 * @head: targets by id. Rarely, an id has two targets: CREATE has added one for an exiting process
 *	and not removed it yet, and another process already has the id
 */
struct branch {
	struct rcu_head rcu;
	unsigned int used;
	struct hlist_head head[BRANCH_SIZE];
};

/* Guards the branches; they are read under RCU. Nests inside table->lock. */
static DEFINE_MUTEX(pxt_targets_lock);
static struct branch __rcu *branches[DIV_ROUND_UP(PID_MAX_LIMIT, BRANCH_SIZE)];

/**
 * pxt_targets_init() - tell lockdep that memory is never allocated with the lock
 */
void pxt_targets_init(void)
{
	pxt_noalloc(&pxt_targets_lock);
}

/* The id in the initial namespace; 0, which no process has, if @pid is NULL. */
static unsigned int id_of(struct pid *pid)
{
	return pid_nr(pid);
}

static struct branch *branch_locked(unsigned int id)
{
	return rcu_dereference_protected(branches[id / BRANCH_SIZE],
					 lockdep_is_held(&pxt_targets_lock));
}

/**
 * pxt_target_lookup() - look up the target of a process without a reference
 * @pid: pid of its thread group; NULL if it was reaped
 *
 * Context: under RCU, or with preemption or interrupts off.
 * Return: the target, or NULL. It may have lost its last reference.
 */
struct pxt_target *pxt_target_lookup(struct pid *pid)
{
	unsigned int id = id_of(pid);
	struct pxt_target *target;
	struct branch *branch;

	branch = rcu_dereference_check(branches[id / BRANCH_SIZE], rcu_read_lock_any_held());
	if (!branch)
		return NULL;
	hlist_for_each_entry_rcu(target, &branch->head[id % BRANCH_SIZE], node,
				 rcu_read_lock_any_held()) {
		if (target->pid == pid)
			return target;
	}
	return NULL;
}

/**
 * pxt_target_find() - find the target of a process
 * @pid: pid of its thread group
 *
 * Return: one reference, or NULL.
 */
struct pxt_target *pxt_target_find(struct pid *pid)
{
	struct pxt_target *target;

	rcu_read_lock();
	target = pxt_target_lookup(pid);
	if (target && !kref_get_unless_zero(&target->kref))
		target = NULL;
	rcu_read_unlock();
	return target;
}

/* Returns NULL if a new branch is needed and @spare is NULL. */
static struct pxt_target *find_or_add(struct pxt_target *target, struct branch **spare)
{
	struct pxt_target *found = pxt_target_find(target->pid);
	unsigned int id = id_of(target->pid);
	struct branch *branch = branch_locked(id);

	if (found)
		return found;
	if (!branch) {
		branch = *spare;
		if (!branch)
			return NULL;
		*spare = NULL;
		rcu_assign_pointer(branches[id / BRANCH_SIZE], branch);
	}
	branch->used++;
	hlist_add_head_rcu(&target->node, &branch->head[id % BRANCH_SIZE]);
	return target;
}

/**
 * pxt_targets_add() - publish a new target, unless its process is a target already
 * @target: not used by other tasks yet
 *
 * Context: may sleep.
 * Return: @target; or a reference to the existing target of the process; or NULL if out of memory.
 */
struct pxt_target *pxt_targets_add(struct pxt_target *target)
{
	struct branch *spare = NULL;
	struct pxt_target *found;

	do {
		mutex_lock(&pxt_targets_lock);
		found = find_or_add(target, &spare);
		mutex_unlock(&pxt_targets_lock);
		/* Allocate without the lock: other callers must not wait for this allocation. */
		if (!found)
			spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	} while (!found && spare);
	kfree(spare);
	return found;
}

/**
 * pxt_targets_remove() - unpublish a target
 * @target: was added
 *
 * Context: may sleep.
 */
void pxt_targets_remove(struct pxt_target *target)
{
	unsigned int id = id_of(target->pid);
	struct branch *branch;

	mutex_lock(&pxt_targets_lock);
	hlist_del_rcu(&target->node);
	branch = branch_locked(id);
	if (!--branch->used) {
		RCU_INIT_POINTER(branches[id / BRANCH_SIZE], NULL);
		kfree_rcu(branch, rcu);
	}
	mutex_unlock(&pxt_targets_lock);
}

static struct pxt_target *first_in(const struct branch *branch)
{
	struct pxt_target *target = NULL;
	int i;

	for (i = 0; branch && !target && i < BRANCH_SIZE; i++)
		target = hlist_entry_safe(branch->head[i].first, struct pxt_target, node);
	return target;
}

/**
 * pxt_targets_next() - find any target for removal
 * @at: search position; 0 at first
 *
 * No targets are added between the calls. Context: may sleep.
 * Return: one reference, or NULL at the end.
 */
struct pxt_target *pxt_targets_next(unsigned int *at)
{
	struct pxt_target *target = NULL;

	mutex_lock(&pxt_targets_lock);
	for (; *at < PID_MAX_LIMIT; *at += BRANCH_SIZE) {
		target = first_in(branch_locked(*at));
		if (target)
			break;
	}
	if (target)
		kref_get(&target->kref);
	mutex_unlock(&pxt_targets_lock);
	return target;
}
