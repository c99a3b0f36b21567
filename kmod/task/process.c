// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks fork, exec and exit of processes, and renames of threads, through tracepoints. These are
 * not exported by name, but can be looked up.
 *
 * A tracepoint handler must not sleep: before Linux 7.0 it runs with preemption off, since then in
 * a preemptible SRCU read-side section. The handlers do not rely on either: they look up objects
 * under rcu_read_lock(), their locks are raw, and they use no per-CPU data. Work that sleeps is
 * queued as task work: it runs before the new program starts or the parent is notified.
 */
#include <linux/binfmts.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "logthread/logworker.h"
#include "ring/wake.h"
#include "stream/stream.h"
#include "target/image.h"
#include "target/interest.h"
#include "target/rights.h"
#include "target/target.h"
#include "target/targets.h"
#include "task/end.h"
#include "task/fork.h"
#include "task/process.h"

/* ------------------------------------------------------------------ */
/* Task work, in the process that calls exec or exits			*/

/*
 * Is this process the only one that can see the stream's records? Its mappings went away with its
 * old address space, unless another process shares that.
 */
static bool is_alone(const struct pxt_stream *stream)
{
	return atomic_read(&stream->link.nr_targets) == 1 && !atomic_read(&stream->mapped);
}

/*
 * A target has executed a program. Streams leave it if their controller may not trace the new
 * program. It stays a target only if a stream remains, because the event type ids of the old
 * program are meaningless for the new one. Returns true if it stays.
 */
static bool look_again(struct pxt_target *target)
{
	struct pxt_stream *stream;
	bool traced = false, retired = false;
	u32 slot;

	mutex_lock(&target->table->lock);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = pxt_stream_in_locked(target, slot);
		if (!stream)
			continue;
		if (!pxt_rights_keep(stream->owner, stream->cred, target->secure,
				     is_alone(stream))) {
			pxt_gate_leave(target, &stream->link);
			continue;
		}
		/* The exec may have interrupted the old program between a record and its WAKE. */
		pxt_wake_look(&stream->pool);
		traced = true;
	}
	if (!traced)
		retired = pxt_target_retire_locked(target);
	mutex_unlock(&target->table->lock);
	if (retired)
		pxt_target_put(target);
	return traced;
}

static void target_executes(struct callback_head *work)
{
	struct pxt_target *target = container_of(work, struct pxt_target, exec_work);

	clear_bit(PXT_TARGET_EXEC, &target->works);
	/* Only one thread is left, with a new thread pointer. */
	clear_bit(PXT_TARGET_SHARED_TP, &target->works);
	if (!(current->flags & PF_EXITING) && look_again(target)) {
		WRITE_ONCE(target->mm, current->mm);
		pxt_interest_changed();
		pxt_image_executed(target);
		pxt_target_executed(target);
	}
	/* Show the process to tracepoints only now: streams that may not trace it have left. */
	clear_bit_unlock(PXT_TARGET_HIDDEN, &target->works);
	pxt_interest_changed();
	pxt_target_put(target);
	module_put(THIS_MODULE);
}

/* Collect what a new log needs to know about the process. */
static void target_looks(struct callback_head *work)
{
	struct pxt_target *target = container_of(work, struct pxt_target, look_work);

	clear_bit(PXT_TARGET_LOOK, &target->works);
	/* After an exec, exec_work first decides which streams may trace the process. */
	if (!(current->flags & PF_EXITING) && !test_bit(PXT_TARGET_EXEC, &target->works))
		pxt_target_look(target, true);
	pxt_target_put(target);
	module_put(THIS_MODULE);
}

static void target_ends(struct callback_head *work)
{
	struct pxt_target *target = container_of(work, struct pxt_target, exit_work);

	pxt_target_retire(target);
	pxt_target_put(target);
	module_put(THIS_MODULE);
}

/* Maximum number of threads of a process to consider. */
#define THREADS_ASKED	64

/*
 * Queue the work to one of the first threads. Called under RCU. Returns false if no thread is
 * suitable.
 */
static bool queue_look(struct pxt_target *target, struct task_struct *task, bool running)
{
	u32 asked = 0;
	struct task_struct *thread;

	for_each_thread(task, thread) {
		if (asked++ == THREADS_ASKED)
			break;
		if (thread->flags & (PF_EXITING | PXT_PF_KERNEL) ||
		    (running && !task_is_running(thread)))
			continue;
		if (!task_work_add(thread, &target->look_work, TWA_RESUME))
			return true;
	}
	return false;
}

/**
 * pxt_process_look() - let a process report itself to the log of a new stream
 * @target: target of the process; a stream with a log was attached to it
 * @task: any thread of the process
 *
 * One of its threads does so when it next returns to user mode, so a running thread is preferred to
 * a sleeping one. The caller does not wait for it. Context: process; the caller holds an open file
 * of the module.
 */
void pxt_process_look(struct pxt_target *target, struct task_struct *task)
{
	bool queued;

	/*
	 * If the work is already queued, it will see the new stream, because it clears this bit
	 * before it takes the lock of the table.
	 */
	if (test_and_set_bit(PXT_TARGET_LOOK, &target->works))
		return;
	pxt_target_ref(target);
	__module_get(THIS_MODULE);
	init_task_work(&target->look_work, target_looks);
	rcu_read_lock();
	queued = queue_look(target, task, true) || queue_look(target, task, false);
	rcu_read_unlock();
	if (queued)
		return;
	clear_bit(PXT_TARGET_LOOK, &target->works);
	module_put(THIS_MODULE);
	pxt_target_put(target);
}

/* ------------------------------------------------------------------ */
/* Tracepoint handlers: must not sleep					*/

/*
 * Get a reference to the target of the calling process, for work that is queued once and puts the
 * reference. Do not put a reference here: when two threads exit at the same time, both may see that
 * no thread is left, and the work of one may complete before the other proceeds. The other would
 * then put the last reference, which takes a mutex.
 */
static struct pxt_target *target_for_work(int bit)
{
	struct pxt_target *target;

	rcu_read_lock();
	target = pxt_target_lookup(task_tgid(current));
	if (!target || test_and_set_bit(bit, &target->works))
		goto none;
	/* Succeeds while a stream traces the process, as the module cannot be unloaded then. */
	if (!try_module_get(THIS_MODULE))
		goto none;
	if (!kref_get_unless_zero(&target->kref)) {
		/* The target has exited. */
		module_put(THIS_MODULE);
		goto none;
	}
	rcu_read_unlock();
	return target;

none:
	rcu_read_unlock();
	return NULL;
}

/* Arguments as in TP_PROTO. */
static void process_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	pxt_fork_noticed(child);
}

static bool leaves_scope(const struct pxt_target *target)
{
	const struct pxt_stream *stream;
	bool leaves = false;
	u32 slot;

	rcu_read_lock();
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX && !leaves; slot++) {
		stream = pxt_stream_in(target, slot);
		leaves = stream && pxt_rights_may_end(stream->owner, stream->cred);
	}
	rcu_read_unlock();
	return leaves;
}

/*
 * Has the program gained privileges, is it unreadable for its user, or is it outside the scope of a
 * controller? Streams may leave in these cases.
 */
static bool is_hidden(const struct pxt_target *target, const struct linux_binprm *bprm)
{
	const struct pxt_exec_state state = pxt_exec_state_current();

	return bprm->secureexec || !state.dumpable || leaves_scope(target);
}

static void process_exec(void *data, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	struct pxt_target *target = target_for_work(PXT_TARGET_EXEC);

	if (target) {
		target->secure = bprm->secureexec;
		/* Kernel events must not reveal the new program before exec_work has decided. */
		if (is_hidden(target, bprm)) {
			set_bit(PXT_TARGET_HIDDEN, &target->works);
			pxt_interest_changed();
		}
		init_task_work(&target->exec_work, target_executes);
		task_work_add(current, &target->exec_work, TWA_RESUME);
	}
	pxt_stream_end_owner();
}

static void thread_exit(struct task_struct *task)
{
	struct pxt_target *target;

	rcu_read_lock();
	target = pxt_target_lookup(task_tgid(task));
	if (target)
		pxt_gate_thread_ends(target, task);
	rcu_read_unlock();
}

static void task_rename(void *data, struct task_struct *task, const char *comm)
{
	struct pxt_target *target;

	rcu_read_lock();
	target = pxt_target_lookup(task_tgid(task));
	if (target)
		pxt_gate_thread_renamed(target, task, comm);
	rcu_read_unlock();
}

static void process_exit(PXT_PROCESS_EXIT_ARGS)
{
	struct pxt_target *target;

	thread_exit(task);
	/* Is this the last thread? The kernel decrements the count before the tracepoint. */
	if (atomic_read(&task->signal->live)) {
		pxt_log_thread_ends(task);
		return;
	}
	/*
	 * Look up the target after the thread count is 0. Pairs with the barrier in
	 * pxt_target_make(): either pxt_target_make() sees the count, or this handler finds the
	 * target.
	 */
	smp_mb();
	target = target_for_work(PXT_TARGET_EXIT);
	if (target) {
		init_task_work(&target->exit_work, target_ends);
		task_work_add(current, &target->exit_work, TWA_RESUME);
	}
	pxt_stream_end_owner();
}

static struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} hooks[] = {
	{ .name = "sched_process_fork", .probe = process_fork },
	{ .name = "sched_process_exec", .probe = process_exec },
	{ .name = "sched_process_exit", .probe = process_exit },
	{ .name = "task_rename", .probe = task_rename },
};

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
	}
}

static void unregister(size_t n)
{
	while (n--)
		tracepoint_probe_unregister(hooks[n].tp, hooks[n].probe, NULL);
	tracepoint_synchronize_unregister();
}

/**
 * pxt_process_init() - start to track fork, exec and exit of processes
 *
 * Return: 0; -ENODEV if this kernel has no such tracepoints; -ENOMEM.
 */
int pxt_process_init(void)
{
	int err = 0;
	size_t i;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = -ENODEV;
		if (hooks[i].tp)
			err = tracepoint_probe_register(hooks[i].tp, hooks[i].probe, NULL);
		if (err)
			break;
	}
	if (err)
		unregister(i);
	return err;
}

/**
 * pxt_process_exit() - stop tracking processes
 *
 * No handler or task work of the module runs after it returns. Context: may sleep.
 */
void pxt_process_exit(void)
{
	unregister(ARRAY_SIZE(hooks));
	/*
	 * A task work may have put its module reference without having returned yet: wait until
	 * each task has slept or been in user mode.
	 */
	synchronize_rcu_tasks();
}
