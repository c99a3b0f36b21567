// SPDX-License-Identifier: GPL-2.0
/*
 * ADD: lets a stream trace a process in addition to those it traces. All processes of a stream
 * share one table of event types, so the new process must not use another table. The limits of the
 * table apply to these processes together, so the new process must have the credentials of the
 * first process of the table: with these credentials, it could trace the others anyway.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "device/add.h"
#include "device/create.h"
#include "stream/stream.h"
#include "target/attachment.h"
#include "target/fork_pool.h"
#include "target/gate.h"
#include "target/rights.h"
#include "target/table.h"
#include "target/target.h"
#include "task/process.h"

static bool same_rights(const struct cred *a, const struct cred *b)
{
	return a->user_ns == b->user_ns && uid_eq(a->uid, b->uid) && uid_eq(a->euid, b->euid) &&
	       uid_eq(a->suid, b->suid) && gid_eq(a->gid, b->gid) && gid_eq(a->egid, b->egid) &&
	       gid_eq(a->sgid, b->sgid) && cap_issubset(a->cap_permitted, b->cap_permitted) &&
	       cap_issubset(b->cap_permitted, a->cap_permitted);
}

/* Get a reference to the process of a table that has only one; NULL if it has ended. */
static struct task_struct *only_process(struct pxt_table *table)
{
	const struct pxt_target *target;
	struct task_struct *task;

	mutex_lock(&table->lock);
	target = list_first_entry_or_null(&table->targets, struct pxt_target, table_node);
	task = target && !target->ended ? get_pid_task(target->pid, PIDTYPE_TGID) : NULL;
	mutex_unlock(&table->lock);
	return task;
}

/* Save the credentials of the first process, unless that has been done. */
static int note_first(struct pxt_table *table)
{
	struct task_struct *task;
	const struct cred *cred;

	if (READ_ONCE(table->cred))
		return 0;
	task = only_process(table);
	if (!task)
		return -ENOTCONN;
	cred = get_task_cred(task);
	pxt_table_note_first(table, cred);
	put_cred(cred);
	put_task_struct(task);
	return 0;
}

/* Check if a process can share the table: 0 or -EXDEV. */
static int check_family(const struct pxt_table *table, struct task_struct *task)
{
	const struct cred *cred = get_task_cred(task);
	int err = same_rights(READ_ONCE(table->cred), cred) ? 0 : -EXDEV;

	put_cred(cred);
	return err;
}

static int check_rights(struct pxt_table *table, struct task_struct *task)
{
	int err = task->flags & PF_KTHREAD ? -EPERM : pxt_rights_create(task);

	if (!err)
		err = note_first(table);
	return err ? err : check_family(table, task);
}

/* Called with exec_update_lock, which blocks exec: repeat the checks that an exec may outdate. */
static int link_again(struct pxt_stream *stream, struct pxt_target *target,
		      struct hlist_head *memory)
{
	struct task_struct *task = get_pid_task(target->pid, PIDTYPE_TGID);
	int err;

	if (!task)
		return -ESTALE;
	err = check_family(target->table, task);
	put_task_struct(task);
	return err ? err : pxt_gate_add(target, &stream->link, memory);
}

static int add_target(struct pxt_stream *stream, struct pxt_target *target,
		      struct task_struct *task)
{
	int err;

	err = pxt_create_link(stream, target, task, link_again);
	if (err)
		return err;
	/*
	 * The pool needs an entry for the next fork of each thread. Threads created before the
	 * stream was linked have not added one, so add the missing entries. If this fails, a fork
	 * that finds the pool empty counts its child as untraced, and refills the pool.
	 */
	pxt_fork_pool_reserve(&target->forks, get_nr_threads(task));
	pxt_attachment_found(target);
	if (stream->log)
		pxt_process_look(target, task);
	return 0;
}

/* Returns -ESTALE if the process executed another program during the call. */
static int add_process(struct pxt_stream *stream, struct task_struct *task)
{
	struct pxt_target *target;
	int err = check_rights(stream->link.table, task);

	if (err)
		return err;
	target = pxt_create_target(task, stream->link.table);
	if (IS_ERR(target))
		return PTR_ERR(target);
	err = target->table == stream->link.table ? add_target(stream, target, task) : -EXDEV;
	/* Do not leave an idle target in the table of other processes. */
	if (err)
		pxt_target_forget(target);
	pxt_target_put(target);
	return err;
}

/**
 * pxt_add() - ADD: let a stream trace another process
 * @stream: stream of the calling process
 * @nr: id of the process in the namespace of the caller
 *
 * The process can see the stream on return. POSIX: no function. Context: may sleep.
 *
 * Return: 0; -EINVAL; -ESRCH if there is no such process; -EPERM as for CREATE; -EXDEV if the
 * process uses another table of event types, or has other credentials than the first one; -EALREADY
 * if the stream already traces it; -EBUSY if another stream has the same slot there; -ENOTCONN if
 * the last process that the stream traced has ended; -ESHUTDOWN; -ENOMEM; -ERESTARTSYS.
 */
int pxt_add(struct pxt_stream *stream, pid_t nr)
{
	struct task_struct *task;
	int err;

	if (nr <= 0)
		return -EINVAL;
	task = pxt_create_find(nr);
	if (IS_ERR(task))
		return PTR_ERR(task);
	do {
		err = add_process(stream, task);
	} while (err == -ESTALE && !signal_pending(current));
	put_task_struct(task);
	/* A process that keeps executing programs must not trap its controller in the loop. */
	return err == -ESTALE ? -ERESTARTSYS : err;
}
