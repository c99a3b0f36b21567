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
 * struct pxt_attachment - a process that maps the gate, in one address space
 * @kref: held by its files of role target and its mappings of the gate
 * @rcu: mappings find it under RCU
 * @pid_node: by process, see attachment.c
 * @mm_node: by address space
 * @number: unique among all present and past attachments, and never 0; constant
 * @pid: the process that attached; constant
 * @mm: its address space: a synchronization must reach the threads that run in it. After an exec
 *	the process must attach again. Holds the struct, not the memory; constant
 * @inode: the gate is mapped through its i_mapping. A mapping that was inherited by fork() is in
 *	the i_mapping of the parent; constant
 * @target: target of @pid; a reference. NULL until a stream or a name needs it: until then the
 *	process sees a shut gate. Written once, under the lock of the table, with release
 * @node: in pxt_table.attachments, once @target is set; under table->lock
 * @shared: another process with this address space has recorded with one of the files: a
 *	synchronization must reach this attachment even if the stream does not trace @target; under
 *	table->lock
 * @marked: the current synchronization must reach its CPUs; under table->lock
 * @open: another process with this address space is traced, and the address space has room for only
 *	one gate: without @target, that gate is open for everything; set once
 * @visitors: threads in a page fault that may still map the shut gate after @target is set; show()
 *	waits for them
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

/* The caller holds a reference to @att, which keeps the target alive. */
static inline struct pxt_target *pxt_attachment_bound(const struct pxt_attachment *att)
{
	/* Pairs with the release in bind(). */
	return smp_load_acquire(&att->target);
}

#endif /* PXT_ATTACHMENT_H */
