// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter trace_scope, with the values of Yama's sysctl kernel.yama.ptrace_scope. It
 * narrows the right to trace a process (rights.c). The kernel does not export what processes have
 * allowed with PR_SET_PTRACER, so that does not count here.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "target/scope.h"
#include "target/target.h"

/* A process with so many ancestors below the controller is none of its descendants. */
#define GENERATIONS_MAX	256

/* Its values; the third one is for holders of CAP_SYS_PTRACE. */
#define SCOPE_USER		0
#define SCOPE_DESCENDANTS	1
#define SCOPE_NONE		3

/* Written with the kernel's lock of the module parameters, read without. */
static unsigned int trace_scope;

static int set_trace_scope(const char *value, const struct kernel_param *param)
{
	unsigned int scope;

	if (kstrtouint(value, 10, &scope) || scope > SCOPE_NONE)
		return -EINVAL;
	/* As Yama: only a new module undoes it. */
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
 * A thread of the process that has not been reaped, or NULL. The task that the caller found may be
 * an old main thread: another thread has executed a program and taken its place. Under RCU.
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
 * which debuggers do not change. The kernel gives the children of a process that ends to another
 * parent before it frees the process. So each real_parent that this reads is a task that had not
 * been freed when the section began, if the first task was not.
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
 * pxt_scope_of() - does trace_scope let a controller trace this process?
 * @task: any thread of it, also one that has ended
 * @controller: thread group
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
