/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TARGET_H
#define PXT_TARGET_H

#include <linux/cred.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include <linux/posixtrace.h>

#include "target/eventid.h"
#include "target/forkpool.h"

struct pxt_link;

/**
 * struct pxt_target - a process that is traced, or may be
 * @kref: the process itself until it ends, files and mappings of its, users
 * @rcu: found in the hash under RCU
 * @node: in the hash of all targets, under its lock
 * @number: that no other target has had, never 0
 * @pid: thread group; a number that is used again is another struct pid
 * @table: event types
 * @table_node: in pxt_table.targets
 * @gate: what the process maps; NULL before anybody needs it. Only the kernel
 *	writes it, under table->lock
 * @slot: links of the streams that trace it; written under table->lock, read under RCU or,
 *	by those a synchronization waits for, with interrupts off
 * @ended: the process has ended or become another program; under table->lock
 * @works: bits PXT_TARGET_*: what is queued, and what is known of its threads
 * @secure: the image that it executes has gained privileges; for @exec_work
 * @exec_work: queued when the process executes a program
 * @exit_work: queued when its last thread ends
 * @refill_work: queued when a fork of it found @forks empty
 * @forks: what its next forks need
 */
struct pxt_target {
	struct kref kref;
	struct rcu_head rcu;
	struct hlist_node node;
	u64 number;
	struct pid *pid;
	struct pxt_table *table;
	struct list_head table_node;
	struct posixtrace_gate *gate;
	struct pxt_link __rcu *slot[POSIXTRACE_SLOTS_MAX];
	bool ended;
	unsigned long works;
	bool secure;
	struct callback_head exec_work;
	struct callback_head exit_work;
	struct callback_head refill_work;
	struct pxt_fork_pool forks;
};

#define PXT_TARGET_EXEC		0	/* exec_work is queued */
#define PXT_TARGET_EXIT		1	/* exit_work is queued */
#define PXT_TARGET_REFILL	2	/* refill_work is queued */
#define PXT_TARGET_LOOKED	3	/* for threads that were born before it was a target */
#define PXT_TARGET_TWINS	4	/* threads share, or have shared, a thread pointer */

/**
 * struct pxt_attachment - files of role target, of one address space
 * @node: in pxt_table.attachments
 * @users: how many files; under table->lock
 * @shared: another process with this address space has recorded with one of them,
 *	for a stream that perhaps only that is traced by; under table->lock
 * @marked: its CPUs have to be reached; under table->lock
 * @target: the process that attached
 * @mm: its address space: a synchronization has to reach those who run in it. Not that
 *	of the next image, which has to attach anew
 */
struct pxt_attachment {
	struct list_head node;
	u32 users;
	bool shared;
	bool marked;
	struct pxt_target *target;
	struct mm_struct *mm;
};

struct pxt_target *pxt_target_get(struct pid *pid, u32 nr_threads);
struct pxt_target *pxt_target_born(struct pid *pid, struct pxt_table *table);
struct pxt_target *pxt_target_lookup(struct pid *pid);
struct pxt_target *pxt_target_find(struct pid *pid);
void pxt_target_ref(struct pxt_target *target);
void pxt_target_put(struct pxt_target *target);
bool pxt_target_shares_memory(void);
bool pxt_target_retire_locked(struct pxt_target *target);
void pxt_target_retire(struct pxt_target *target);
void pxt_target_exit(void);

struct pxt_attachment *pxt_target_attach(void);
void pxt_target_detach(struct pxt_attachment *att);
struct pxt_target *pxt_target_acting(struct pxt_attachment *att);

/* rights.c */
int pxt_rights_create(struct task_struct *task);
bool pxt_rights_keep(const struct cred *cred, bool secure, bool alone);

/* twins.c */
bool pxt_twins_born(struct pxt_target *target, const struct task_struct *child);
int pxt_twins_look(struct pxt_target *target);

#endif /* PXT_TARGET_H */
