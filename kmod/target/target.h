/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TARGET_H
#define PXT_TARGET_H

#include <linux/compiler.h>
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
#include "target/text.h"

struct pxt_link;

/**
 * struct pxt_target - a process that is traced, or may be
 */
struct pxt_target {
	/** @kref: one of the process until it ends, of its files and mappings, of users */
	struct kref kref;
	/** @rcu: readers of the hash find it under RCU */
	struct rcu_head rcu;

	/* Constant: */
	/** @number: no other target has or had it; never 0 */
	u64 number;
	/** @pid: thread group; a process id that is used again is another struct pid */
	struct pid *pid;
	/** @table: event types */
	struct pxt_table *table;

	/** @node: in the hash of all targets, under its lock; read under RCU */
	struct hlist_node node;

	/* Guarded by table->lock: */
	/** @table_node: in pxt_table.targets */
	struct list_head table_node;
	/**
	 * @gate: the process maps it; NULL until the process attaches or is traced. Published
	 * with release, read with acquire. Only the kernel writes it; pxt_gate_outdate()
	 * changes its generation without the lock
	 */
	struct posixtrace_gate *gate;
	/**
	 * @slot: links of the streams that trace it; read under RCU, or with interrupts off by
	 * writers that a synchronization waits for
	 */
	struct pxt_link __rcu *slot[POSIXTRACE_SLOTS_MAX];
	/** @kernel_slots: bit s: slot s has a stream with events of the kernel; read under RCU */
	u32 kernel_slots;
	/** @ended: the process has ended or become another program */
	bool ended;
	/**
	 * @text: what logs say about it: references; NULL until the process attaches, or looks for
	 * its mappings
	 */
	struct pxt_text *text[PXT_TEXTS];

	/**
	 * @mm: the address space of which its controllers may know addresses, only to be compared;
	 * NULL until a stream traces it. Written by CREATE while the process cannot execute a
	 * program, and by the process; tracepoints read it
	 */
	const void *mm;

	/* Task works, run by threads of the process; atomic bits say which are queued: */
	/** @works: bits PXT_TARGET_*: queued works, and what is known of its threads */
	unsigned long works;
	/** @secure: the image that it executes has gained privileges; for @exec_work */
	bool secure;
	/** @exec_work: queued when the process executes a program */
	struct callback_head exec_work;
	/** @exit_work: queued when its last thread ends */
	struct callback_head exit_work;
	/** @refill_work: queued when a fork of it found @forks empty */
	struct callback_head refill_work;

	/** @forks: memory for its next forks; has a lock of its own */
	struct pxt_fork_pool forks;
};

#define PXT_TARGET_EXEC		0	/* exec_work is queued */
#define PXT_TARGET_EXIT		1	/* exit_work is queued */
#define PXT_TARGET_REFILL	2	/* refill_work is queued */
#define PXT_TARGET_LOOKED	3	/* looked for threads born before it was a target */
#define PXT_TARGET_TWINS	4	/* threads share, or have shared, a thread pointer */
#define PXT_TARGET_HIDDEN	5	/* may be more privileged than before: exec_work decides */

/**
 * struct pxt_attachment - the files of role target of one address space
 * @node: in pxt_table.attachments
 * @users: how many files; under table->lock
 * @shared: another process with this address space has recorded with one of the files, into
 *	a stream that may trace only that process; under table->lock
 * @marked: the current synchronization has to reach its CPUs; under table->lock
 * @target: the process that attached
 * @mm: its address space: a synchronization has to reach the threads that run in it. The
 *	next image of the process has to attach anew
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
void pxt_target_init(void);
void pxt_target_exit(void);

struct pxt_attachment *pxt_target_attach(void);
void pxt_target_detach(struct pxt_attachment *att);
void pxt_target_executed(struct pxt_target *target);
void pxt_target_mapped(struct pxt_target *target);
void pxt_target_note_memory(struct pxt_target *target, struct task_struct *task);
void pxt_target_take_after(struct pxt_target *target, struct pxt_target *parent);
struct pxt_target *pxt_target_acting(struct pxt_attachment *att);

/* rights.c */
int pxt_rights_create(struct task_struct *task);
bool pxt_rights_keep(const struct cred *cred, bool secure, bool alone);

/* twins.c */
u64 pxt_thread_id(const struct task_struct *task);
bool pxt_twins_born(struct pxt_target *target, const struct task_struct *child);
int pxt_twins_look(struct pxt_target *target);

static inline bool pxt_thread_uses(const struct task_struct *thread, const struct mm_struct *mm)
{
	/* A thread that ends clears it by a plain store, and the answer may be old at once. */
	return data_race(READ_ONCE(thread->mm)) == mm;
}

#endif /* PXT_TARGET_H */
