// SPDX-License-Identifier: GPL-2.0
/*
 * The right to trace a process. A trace exposes data of the process: the controller must be able to
 * send it signals and to read its core dump, or have CAP_SYS_PTRACE over it. (The check that
 * ptrace() uses is not exported to modules.) The parameter trace_scope in scope.c restricts this
 * further.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/uidgid.h>

#include "compat.h"
#include "target/rights.h"
#include "target/scope.h"
#include "target/target.h"
#include "target/walk.h"

/* The rule for signals: would kill() succeed without capabilities? */
static bool same_user(const struct cred *cred, const struct cred *tcred)
{
	return uid_eq(cred->euid, tcred->suid) || uid_eq(cred->euid, tcred->uid) ||
	       uid_eq(cred->uid, tcred->suid) || uid_eq(cred->uid, tcred->uid);
}

/* What determines the right to trace a process. Holds references. */
struct decisive {
	struct pxt_exec_state state;
	const struct cred *cred;
};

static bool get_decisive(struct task_struct *thread, void *arg)
{
	struct decisive *of = arg;

	if (!pxt_exec_state_get(&of->state, thread))
		return false;
	of->cred = get_task_cred(thread);
	return true;
}

/*
 * Get the state and the credentials from the first live thread, because the main thread may have
 * ended. If another thread executes a program, the caller may hold the old group leader with stale
 * credentials. If a very large number of threads have ended and are reaped during the walk, the
 * process counts as ended.
 */
static bool get_state(struct task_struct *task, struct decisive *of)
{
	u32 tries = 0;
	int ret;

	do {
		ret = pxt_walk_threads(task, get_decisive, of);
	} while (ret < 0 && pxt_walk_retry(tries++));
	return ret > 0;
}

static bool may_trace(const struct pxt_exec_state *state, const struct cred *tcred)
{
	if (!same_user(current_cred(), tcred) && !ns_capable(tcred->user_ns, CAP_SYS_PTRACE))
		return false;
	return state->dumpable || ns_capable(state->user_ns, CAP_SYS_PTRACE);
}

static bool is_in_scope(struct task_struct *task, const struct cred *tcred)
{
	switch (pxt_scope_of(task, task_tgid(current))) {
	case PXT_SCOPE_YES:
		return true;
	case PXT_SCOPE_POWER:
		return ns_capable(tcred->user_ns, CAP_SYS_PTRACE);
	default:
		return false;
	}
}

/**
 * pxt_rights_create() - check if the caller may trace this process
 * @task: any thread of the process, even an ended one
 *
 * Context: may sleep.
 * Return: 0; -EPERM; -ESRCH if the process has ended.
 */
int pxt_rights_create(struct task_struct *task)
{
	struct decisive of;
	int err;

	if (same_thread_group(task, current))
		return 0;
	if (!get_state(task, &of))
		return -ESRCH;
	err = may_trace(&of.state, of.cred) && is_in_scope(task, of.cred) ? 0 : -EPERM;
	put_cred(of.cred);
	pxt_exec_state_put(&of.state);
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

static bool stays_in_scope(const struct pid *controller, const struct cred *cred)
{
	switch (pxt_scope_of(current, controller)) {
	case PXT_SCOPE_YES:
		return true;
	case PXT_SCOPE_POWER:
		return has_power(cred, current_user_ns());
	default:
		return false;
	}
}

/**
 * pxt_rights_keep() - check if a stream may continue to trace the caller after an exec
 * @controller: thread group of the controller
 * @cred: credentials of the controller when it created the stream
 * @secure: the program has gained privileges that its caller does not have
 * @alone: no other process can see the records in the stream
 *
 * Like pxt_rights_create(), this does not depend on the process that opened the file of the stream.
 * If the stream may continue only by a capability of the controller, @alone matters: the other
 * traced processes may lack that capability, but map the same stream.
 *
 * Return: true if so.
 */
bool pxt_rights_keep(const struct pid *controller, const struct cred *cred, bool secure, bool alone)
{
	const struct cred *tcred = current_cred();
	const struct pxt_exec_state state = pxt_exec_state_current();
	/* True if the new program need not be hidden from other processes that map the stream. */
	bool open = !secure && state.dumpable;

	if (!stays_in_scope(controller, cred))
		return false;
	if (open && same_user(cred, tcred))
		return true;
	return (open || alone) && has_power(cred, tcred->user_ns) &&
	       has_power(cred, state.user_ns);
}

static bool has_user(const struct cred *cred, kuid_t uid)
{
	return uid_eq(uid, cred->uid) || uid_eq(uid, cred->euid) || uid_eq(uid, cred->suid);
}

static bool has_group(const struct cred *cred, kgid_t gid)
{
	return gid_eq(gid, cred->gid) || gid_eq(gid, cred->egid) || gid_eq(gid, cred->sgid);
}

/**
 * pxt_rights_over() - check if the caller may trace a process with these credentials
 * @tcred: current or past credentials of the process; a reference
 *
 * Like ptrace(), except that the process may have ended. The caller may trace the process if it can
 * acquire all ids and capabilities of the process, or has CAP_SYS_PTRACE.
 *
 * Return: true if so.
 */
bool pxt_rights_over(const struct cred *tcred)
{
	const struct cred *cred = current_cred();

	if (cred->user_ns == tcred->user_ns &&
	    cap_issubset(tcred->cap_permitted, cred->cap_permitted) &&
	    has_user(cred, tcred->uid) && has_user(cred, tcred->euid) &&
	    has_user(cred, tcred->suid) && has_group(cred, tcred->gid) &&
	    has_group(cred, tcred->egid) && has_group(cred, tcred->sgid))
		return true;
	return ns_capable_noaudit(tcred->user_ns, CAP_SYS_PTRACE);
}

/**
 * pxt_rights_may_end() - check if pxt_rights_keep() might fail because of trace_scope
 * @controller: thread group of a stream's controller
 * @cred: credentials of the controller; RCU keeps it, so no reference is needed
 *
 * For the exec tracepoint, which cannot override credentials. May return true for a controller with
 * CAP_SYS_PTRACE in a user namespace other than the initial one.
 *
 * Context: under RCU.
 *
 * Return: true if so.
 */
bool pxt_rights_may_end(const struct pid *controller, const struct cred *cred)
{
	switch (pxt_scope_of(current, controller)) {
	case PXT_SCOPE_YES:
		return false;
	case PXT_SCOPE_POWER:
		return cred->user_ns != &init_user_ns ||
		       !cap_raised(cred->cap_effective, CAP_SYS_PTRACE);
	default:
		return true;
	}
}

/**
 * pxt_rights_power() - check if the caller has CAP_SYS_PTRACE in its user namespace
 *
 * For pxt_rights_name(), which cannot ask security modules. Context: may sleep.
 *
 * Return: true if so.
 */
bool pxt_rights_power(void)
{
	return ns_capable_noaudit(current_user_ns(), CAP_SYS_PTRACE);
}

/* Is @ns the user namespace @mine or below it, so that capabilities extend to it? */
static bool extends_to(const struct user_namespace *mine, const struct user_namespace *ns)
{
	for (; ns && ns->level >= mine->level; ns = ns->parent) {
		if (ns == mine)
			return true;
	}
	return false;
}

/**
 * pxt_rights_name() - check if a controller might trace the current process, and may know its ids
 * @controller: thread group of the controller
 * @cred: credentials of the controller when it created the stream
 * @power: pxt_rights_power() at that time
 *
 * Applies the rule of pxt_rights_create() in tracepoints: without locks, in a bounded time. It is
 * stricter in two cases: the owner of a user namespace has no power over that namespace without the
 * capability in the owner's namespace, and a process that has released its memory at its end is no
 * longer known.
 *
 * Context: under RCU; scheduler locks may be held, interrupts may be off.
 *
 * Return: true if so.
 */
bool pxt_rights_name(const struct pid *controller, const struct cred *cred, bool power)
{
	const struct cred *tcred = current_real_cred();
	struct pxt_exec_state state;
	enum pxt_scope scope;
	bool over;

	if (!current->mm || current->flags & PF_KTHREAD)
		return false;
	state = pxt_exec_state_current();
	over = power && extends_to(cred->user_ns, tcred->user_ns);
	if (!over && !same_user(cred, tcred))
		return false;
	if (!state.dumpable && !(power && extends_to(cred->user_ns, state.user_ns)))
		return false;
	scope = pxt_scope_of(current, controller);
	return scope == PXT_SCOPE_YES || (scope == PXT_SCOPE_POWER && over);
}
