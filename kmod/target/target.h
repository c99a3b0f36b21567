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

#include "target/fork_pool.h"
#include "target/table.h"
#include "target/text.h"

struct pxt_link;

/**
 * struct pxt_target - a process that is or may be traced
 */
struct pxt_target {
	/** @kref: held by the process until it ends, by its files and mappings, and by users */
	struct kref kref;
	/** @rcu: targets are found under RCU */
	struct rcu_head rcu;

	/* Constant: */
	/** @pid: thread group; a reused process id has another struct pid */
	struct pid *pid;
	/** @table: event types */
	struct pxt_table *table;
	/**
	 * @author: the process as an author of types. Its number is never 0, and is never reused
	 * for another target. table->lock guards its image and guest, which are not constant
	 */
	struct pxt_author author;

	/** @node: in targets.c, under its lock; read under RCU */
	struct hlist_node node;

	/* Guarded by table->lock: */
	/** @table_node: in pxt_table.targets */
	struct list_head table_node;
	/**
	 * @gate: mapped by the process; NULL until it opens a name or is traced. Published
	 * with release, read with acquire. Only the kernel writes it; pxt_gate_outdate() changes
	 * its generation without the lock
	 */
	struct posixtrace_gate *gate;
	/**
	 * @slot: links of the streams that trace it; read under RCU, or with interrupts off by
	 * writers that a synchronization waits for
	 */
	struct pxt_link __rcu *slot[POSIXTRACE_SLOTS_MAX];
	/** @kernel_slots: bit s: slot s has a stream with kernel events; read under RCU */
	u32 kernel_slots;
	/**
	 * @ended: the process has ended, has executed a program that no stream traces, or has
	 * become another target by ADD; also read without the lock
	 */
	bool ended;
	/**
	 * @text: texts for logs: references; NULL until the process has collected them. Only while
	 * a stream with a log traces it
	 */
	struct pxt_text *text[PXT_TEXTS];
	/**
	 * @looks: incremented when a stream with a log starts to trace it: the process must collect
	 * its texts again
	 */
	u32 looks;
	/** @looked: value of @looks when @text was collected */
	u32 looked;
	/**
	 * @mappings_seen: generation of the gate when the process last scanned its mappings, or 0;
	 * written without the lock: if two threads race, both scan
	 */
	u64 mappings_seen;

	/**
	 * @mm: the address space that controllers may see addresses of, only to be compared; NULL
	 * until a stream traces it. Written by CREATE while the process cannot execute a program,
	 * and by the process; read by tracepoints
	 */
	const void *mm;

	/* Task works, run by threads of the process; atomic bits show which are queued: */
	/** @works: bits PXT_TARGET_*: queued works and properties of the threads */
	unsigned long works;
	/** @secure: the program has gained privileges by exec; for @exec_work */
	bool secure;
	/** @exec_work: queued when the process executes a program */
	struct callback_head exec_work;
	/** @exit_work: queued when its last thread ends */
	struct callback_head exit_work;
	/** @refill_work: queued when a fork found @forks empty */
	struct callback_head refill_work;
	/** @look_work: queued when a stream with a log starts to trace it */
	struct callback_head look_work;

	/** @forks: memory for its next forks; has a separate lock */
	struct pxt_fork_pool forks;
};

#define PXT_TARGET_EXEC		0	/* exec_work is queued */
#define PXT_TARGET_EXIT		1	/* exit_work is queued */
#define PXT_TARGET_REFILL	2	/* refill_work is queued */
#define PXT_TARGET_LOOKED	3	/* older threads were checked for shared thread pointers */
#define PXT_TARGET_SHARED_TP	4	/* threads share, or have shared, a thread pointer */
#define PXT_TARGET_HIDDEN	5	/* may have gained privileges: exec_work decides */
#define PXT_TARGET_LOOK		6	/* look_work is queued */

struct pxt_target *pxt_target_make(struct task_struct *task, struct pxt_table *table);
struct pxt_target *pxt_target_born(struct pid *pid, struct pxt_table *table);
void pxt_target_ref(struct pxt_target *target);
void pxt_target_put(struct pxt_target *target);
bool pxt_target_forget(struct pxt_target *target);
bool pxt_target_retire_locked(struct pxt_target *target);
void pxt_target_retire(struct pxt_target *target);
void pxt_target_init(void);
void pxt_target_exit(void);

void pxt_target_executed(struct pxt_target *target);
void pxt_target_look(struct pxt_target *target, bool mappings);
void pxt_target_look_once(struct pxt_target *target);
void pxt_target_take_after(struct pxt_target *target, struct pxt_target *parent);

/* The stream in a slot, or NULL. Called with table->lock. */
static inline struct pxt_link *pxt_link_in(const struct pxt_target *target, u32 slot)
{
	return rcu_dereference_protected(target->slot[slot],
					 lockdep_is_held(&target->table->lock));
}

#endif /* PXT_TARGET_H */
