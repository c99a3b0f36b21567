// SPDX-License-Identifier: GPL-2.0
/*
 * The right to trace a process. A trace shows data of the process: the controller must be
 * able to send it signals and to read its core dump, or have CAP_SYS_PTRACE over it. (The
 * check that ptrace() makes is not exported to modules.)
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/uidgid.h>

#include "compat.h"
#include "target/target.h"

/* The rule for signals: would kill() be allowed without capabilities? */
static bool same_user(const struct cred *cred, const struct cred *tcred)
{
	return uid_eq(cred->euid, tcred->suid) || uid_eq(cred->euid, tcred->uid) ||
	       uid_eq(cred->uid, tcred->suid) || uid_eq(cred->uid, tcred->uid);
}

/*
 * Both are those of the first thread that has not ended: the main thread may have. And when another
 * thread executes a program, the task that the caller found is the old main thread, whose
 * credentials do not change any more.
 */
static bool get_state(struct task_struct *task, struct pxt_exec_state *state,
		      const struct cred **cred)
{
	struct task_struct *thread;
	bool found = false;

	rcu_read_lock();
	for_each_thread(task, thread) {
		found = pxt_exec_state_get(state, thread);
		if (found) {
			*cred = get_task_cred(thread);
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

static bool may_trace(const struct pxt_exec_state *state, const struct cred *tcred)
{
	if (!same_user(current_cred(), tcred) && !ns_capable(tcred->user_ns, CAP_SYS_PTRACE))
		return false;
	return pxt_exec_dumpable(state) || ns_capable(pxt_exec_user_ns(state), CAP_SYS_PTRACE);
}

/**
 * pxt_rights_create() - may the caller trace this process?
 * @task: any thread of it, also one that has ended
 *
 * Context: may sleep.
 * Return: 0; -EPERM; -ESRCH if it has ended.
 */
int pxt_rights_create(struct task_struct *task)
{
	struct pxt_exec_state state;
	const struct cred *tcred;
	int err;

	if (same_thread_group(task, current))
		return 0;
	if (!get_state(task, &state, &tcred))
		return -ESRCH;
	err = may_trace(&state, tcred) ? 0 : -EPERM;
	put_cred(tcred);
	pxt_exec_state_put(&state);
	return err;
}

/* Do these credentials have CAP_SYS_PTRACE in the namespace? */
static bool has_power(const struct cred *cred, struct user_namespace *ns)
{
	const struct cred *mine = override_creds(cred);
	bool ret = ns_capable_noaudit(ns, CAP_SYS_PTRACE);

	revert_creds(mine);
	return ret;
}

/**
 * pxt_rights_keep() - may a stream go on tracing the caller, which has executed a program?
 * @cred: of the controller, when it created the stream
 * @secure: the program was given privileges that its caller does not have
 * @alone: no other process can see the records in the stream
 *
 * As in pxt_rights_create(), it does not matter which process opened the file of the stream.
 * The capability of a controller does not extend to the other traced processes, which see
 * the memory that they share with this one.
 *
 * Return: yes or no.
 */
bool pxt_rights_keep(const struct cred *cred, bool secure, bool alone)
{
	const struct cred *tcred = current_cred();
	const struct pxt_exec_state state = pxt_exec_state_current();
	/* The new program is no secret to the processes that share its memory. */
	bool open = !secure && pxt_exec_dumpable(&state);

	if (open && same_user(cred, tcred))
		return true;
	return (open || alone) && has_power(cred, tcred->user_ns) &&
	       has_power(cred, pxt_exec_user_ns(&state));
}
