// SPDX-License-Identifier: GPL-2.0
/*
 * Iterates over the threads and processes that a stream with kernel events traces.
 */
#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>

#include "compat.h"
#include "target/gate.h"
#include "target/interest.h"
#include "target/target.h"
#include "target/targets.h"
#include "target/traced.h"

/**
 * pxt_traced_by() - check if a stream traces a process, and may see it now
 * @link: link of the stream
 * @target: the process
 *
 * Context: under RCU.
 */
bool pxt_traced_by(const struct pxt_link *link, const struct pxt_target *target)
{
	return rcu_dereference(target->slot[link->slot]) == link &&
	       !test_bit(PXT_TARGET_HIDDEN, &target->works);
}

/**
 * pxt_traced_next() - look at the first id that is not smaller than @next
 * @link: link of the stream
 * @ns: pid namespace of its controller
 * @type: PIDTYPE_PID for threads, PIDTYPE_TGID for processes
 * @next: advances past the id, to -1 after the last one
 * @target: result: its process; a reference
 *
 * Return: a reference to the thread, or NULL if no traced thread has the id.
 */
struct task_struct *pxt_traced_next(const struct pxt_link *link, struct pid_namespace *ns,
				    enum pid_type type, pid_t *next, struct pxt_target **target)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	pid = idr_get_next(&ns->idr, next);
	*next = pid ? *next + 1 : -1;
	if (pid)
		task = pid_task(pid, type);
	if (task && (!pxt_interest_in(task) || task->flags & PXT_PF_KERNEL))
		task = NULL;
	*target = task ? pxt_target_lookup(task_tgid(task)) : NULL;
	if (!*target || !pxt_traced_by(link, *target) || !kref_get_unless_zero(&(*target)->kref))
		task = NULL;
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}
