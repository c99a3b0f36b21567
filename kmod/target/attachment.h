/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ATTACHMENT_H
#define PXT_ATTACHMENT_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>

#include "target/target.h"

/**
 * struct pxt_attachment - a process that maps the gate, in one of its address spaces
 * @kref: of its files of role target and of its mappings of the gate
 * @rcu: mappings find it under RCU
 * @pid_node: by process, see attachment.c
 * @mm_node: by address space
 * @number: never 0; no other attachment has or had it; constant
 * @pid: the process that attached; constant
 * @mm: its address space: a synchronization has to reach the threads that run in it. The next image
 *	of the process has to attach again. The struct is held, the memory is not; constant
 * @inode: the gate is mapped by way of its address space; those that a process inherits from its
 *	parent, by that of the parent; constant
 * @target: of @pid; a reference. NULL until a stream or a name wants it: until then the process
 *	sees a gate that is shut. Written once, under the lock of the table, with release
 * @node: in pxt_table.attachments, once it has @target; under table->lock
 * @shared: another process with this address space has recorded with one of the files, into
 *	a stream that may trace only that process; under table->lock
 * @marked: the current synchronization has to reach its CPUs; under table->lock
 * @open: without @target: another process with this address space is traced, so the gate is open
 *	for everything; set once
 * @visitors: threads that may map a gate that is shut, although there is @target by now
 */
struct pxt_attachment {
	struct kref kref;
	struct rcu_head rcu;
	struct hlist_node pid_node;
	struct hlist_node mm_node;
	u64 number;
	struct pid *pid;
	struct mm_struct *mm;
	struct inode *inode;
	struct pxt_target *target;
	struct list_head node;
	bool shared;
	bool marked;
	bool open;
	atomic_t visitors;
};

void pxt_attachment_init(void);
struct pxt_attachment *pxt_attachment_get(struct inode *inode);
struct pxt_attachment *pxt_attachment_try_ref(struct pxt_attachment *att);
void pxt_attachment_put(struct pxt_attachment *att);
void pxt_attachment_visit(struct pxt_attachment *att);
void pxt_attachment_leave(struct pxt_attachment *att);
struct pxt_target *pxt_attachment_target(struct pxt_attachment *att, bool make);
void pxt_attachment_found(struct pxt_target *target);

/* The caller has a reference to @att, which holds the target. */
static inline struct pxt_target *pxt_attachment_bound(const struct pxt_attachment *att)
{
	/* Pairs with the release in bind(). */
	return smp_load_acquire(&att->target);
}

#endif /* PXT_ATTACHMENT_H */
