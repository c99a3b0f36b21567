// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter trace_scope, with the values of Yama's sysctl kernel.yama.ptrace_scope. It
 * restricts the right to trace a process (rights.c). The kernel does not export permissions granted
 * with PR_SET_PTRACER, so they are ignored here.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "target/scope.h"
#include "target/target.h"

/* A process with this many ancestors below the controller does not count as a descendant. */
#define GENERATIONS_MAX	256

/* Values of trace_scope; 2 requires CAP_SYS_PTRACE. */
#define SCOPE_USER		0
#define SCOPE_DESCENDANTS	1
#define SCOPE_NONE		3

/* Written with the kernel's lock of the module parameters; read without. */
static unsigned int trace_scope;

static int set_trace_scope(const char *value, const struct kernel_param *param)
{
	unsigned int scope;

	if (kstrtouint(value, 10, &scope) || scope > SCOPE_NONE)
		return -EINVAL;
	/* As in Yama, 3 cannot be changed any further, except by reloading the module. */
	if (trace_scope == SCOPE_NONE && scope != SCOPE_NONE)
		return -EPERM;
	WRITE_ONCE(trace_scope, scope);
	return 0;
}

static int get_trace_scope(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%u\n", READ_ONCE(trace_scope));
}

static const struct kernel_param_ops trace_scope_ops = {
	.set = set_trace_scope,
	.get = get_trace_scope,
};

module_param_cb(trace_scope, &trace_scope_ops, NULL, 0644);
__MODULE_PARM_TYPE(trace_scope, "uint");
MODULE_PARM_DESC(trace_scope,
		 "Whom a user may trace: 0 own processes (default), 1 descendants, 2 with CAP_SYS_PTRACE, 3 only itself");

/*
 * Find a thread of the process that has not been reaped, or NULL. The caller's task may be an old
 * group leader that another thread has replaced in exec. Called under RCU.
 */
static struct task_struct *live_thread(struct task_struct *task)
{
	struct task_struct *thread;

	for_each_thread(task, thread) {
		if (pid_alive(thread))
			return thread;
	}
	return NULL;
}

/*
 * Is the process a descendant of another one? All threads of a process have the same real parent,
 * which debuggers do not change. The kernel reparents the children of an exiting process before it
 * frees the process. So if the first task had not been freed when the RCU section began, the
 * real_parent pointers read here are valid until it ends.
 */
static bool is_descendant(struct task_struct *task, const struct pid *ancestor)
{
	bool found = false;
	int i;

	rcu_read_lock();
	task = live_thread(task);
	for (i = 0; task && task->pid && i < GENERATIONS_MAX && !found; i++) {
		task = rcu_dereference(task->real_parent);
		found = task_tgid(task) == ancestor;
	}
	rcu_read_unlock();
	return found;
}

/**
 * pxt_scope_of() - check what trace_scope allows a controller to do with a process
 * @task: any thread of the process, even an ended one
 * @controller: its thread group
 *
 * Context: any.
 * Return: PXT_SCOPE_YES, PXT_SCOPE_POWER, PXT_SCOPE_NO.
 */
enum pxt_scope pxt_scope_of(struct task_struct *task, const struct pid *controller)
{
	unsigned int scope = READ_ONCE(trace_scope);

	if (scope == SCOPE_USER || task_tgid(task) == controller)
		return PXT_SCOPE_YES;
	if (scope == SCOPE_DESCENDANTS && is_descendant(task, controller))
		return PXT_SCOPE_YES;
	return scope < SCOPE_NONE ? PXT_SCOPE_POWER : PXT_SCOPE_NO;
}
