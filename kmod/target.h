/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TARGET_H
#define PXT_TARGET_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>

#include <linux/posixtrace.h>

#include "eventid.h"
#include "quiesce.h"

struct pxt_stream;

/**
 * struct pxt_target - a traced process, or one that may be traced
 * @kref: streams on it, files that are attached, mappings of the gate
 * @node: in the hash of all targets, under its lock
 * @pid: thread group; a number that is used again is another struct pid
 * @table: event types
 * @table_node: in pxt_table.targets
 * @gate: what the process maps; only the kernel writes it, under table->lock
 * @slot: streams that trace it; written under table->lock, read under RCU or,
 *	by those a quiesce waits for, with interrupts off
 * @attachments: the address spaces that record, under table->lock
 */
struct pxt_target {
	struct kref kref;
	struct hlist_node node;
	struct pid *pid;
	struct pxt_table *table;
	struct list_head table_node;
	struct posixtrace_gate *gate;
	struct pxt_stream __rcu *slot[POSIXTRACE_SLOTS_MAX];
	struct list_head attachments;
};

/**
 * struct pxt_attachment - files of role target, of one address space
 * @node: in pxt_target.attachments
 * @users: how many files; under table->lock
 * @target: the process that attached
 * @mm: its address space: a quiesce has to reach those who run in it. Not that
 *	of the next image, which has to attach anew
 */
struct pxt_attachment {
	struct list_head node;
	u32 users;
	struct pxt_target *target;
	struct mm_struct *mm;
};

/*
 * Ask writers to wake those who wait for events of a slot, or not. Each bit is
 * guarded by the lock of its stream's wait queue; they share the word.
 */
static inline void pxt_target_set_waiting(struct pxt_target *target, u32 slot, bool wait)
{
	atomic_t *waiters = (atomic_t *)&target->gate->waiters;

	if (wait)
		atomic_or(BIT(slot), waiters);
	else
		atomic_andnot(BIT(slot), waiters);
}

static inline bool pxt_target_waiting(const struct pxt_target *target, u32 slot)
{
	return READ_ONCE(target->gate->waiters) & BIT(slot);
}

struct pxt_target *pxt_target_get(struct pid *pid);
void pxt_target_ref(struct pxt_target *target);
void pxt_target_put(struct pxt_target *target);

struct pxt_attachment *pxt_target_attach(void);
void pxt_target_detach(struct pxt_attachment *att);

int pxt_target_link(struct pxt_target *target, struct pxt_stream *stream);
void pxt_target_unlink(struct pxt_target *target, struct pxt_stream *stream);
void pxt_target_set_stream(struct pxt_target *target, struct pxt_stream *stream, bool on);
void pxt_target_set_filter(struct pxt_target *target, struct pxt_stream *stream,
			   const struct posixtrace_event_set *filter);
void pxt_target_set_type(struct pxt_target *target, u32 id);
void pxt_target_quiesce(struct pxt_target *target);

#endif /* PXT_TARGET_H */
