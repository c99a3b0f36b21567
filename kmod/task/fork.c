// SPDX-License-Identifier: GPL-2.0
/*
 * Children of targets: they share the event types of their parent, and they inherit the streams
 * with POSIX_TRACE_INHERITED that trace the parent at the fork.
 *
 * The tracepoint handler that sees a fork must not sleep or take a mutex. Before Linux 7.0 it also
 * runs with preemption disabled, so on PREEMPT_RT even GFP_ATOMIC is not allowed. Work that may
 * sleep is therefore queued as task work: to the child, which runs it before its first instruction,
 * and to the forking thread, which replaces the used struct pxt_fork before it can fork again. So a
 * pool with one struct pxt_fork per thread of the process is always sufficient. If an allocation
 * failed and a fork finds the pool empty, the forking thread refills it for the next fork.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "stream/stream.h"
#include "target/fork_pool.h"
#include "target/gate.h"
#include "target/image.h"
#include "target/memory.h"
#include "target/shared_tp.h"
#include "target/table.h"
#include "target/target.h"
#include "target/targets.h"
#include "task/fork.h"

#define BEGUN_BITS	10

/*
 * Processes that have not run yet, hashed by struct pid. The lock guards changes; readers use RCU.
 * It is raw, like the locks of the pools; both are innermost locks.
 */
static DEFINE_RAW_SPINLOCK(pxt_forks_lock);
static struct hlist_head pxt_forks_begun[1 << BEGUN_BITS];

static struct hlist_head *begun_bucket(const struct pid *pid)
{
	return &pxt_forks_begun[hash_ptr(pid, BEGUN_BITS)];
}

/* ------------------------------------------------------------------ */
/* Task work, in the new process and in the forking thread		*/

/* Put the image if the child did not take it over. */
static void put_image(struct pxt_fork *fork)
{
	struct pxt_table *table = fork->target->table;

	if (!fork->image)
		return;
	mutex_lock(&table->lock);
	pxt_image_put(table, fork->image);
	mutex_unlock(&table->lock);
}

/*
 * Afterwards, the caller puts its module reference while it still runs module code: see
 * pxt_process_exit().
 */
static void fork_put(struct pxt_fork *fork)
{
	u32 slot;

	if (!refcount_dec_and_test(&fork->users))
		return;
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (fork->stream[slot])
			pxt_stream_put(fork->stream[slot]);
	}
	put_image(fork);
	pxt_target_put(fork->target);
	/* Readers of the hash may still access @fork. */
	kfree_rcu(fork, rcu);
}

/* Refill the pool: a thread was added, or an entry was used. */
static void finish_fork(struct pxt_fork *fork)
{
	/* If this fails, a later child may go untraced and is counted: see refill_later(). */
	if (!(current->flags & PF_EXITING))
		pxt_fork_pool_reserve(&fork->target->forks, get_nr_threads(current));
	fork_put(fork);
	module_put(THIS_MODULE);
}

static void fork_returns(struct callback_head *work)
{
	finish_fork(container_of(work, struct pxt_fork, parent_work));
}

static void child_starts(struct callback_head *work)
{
	struct pxt_fork *fork = container_of(work, struct pxt_fork, child_work);

	if (!(current->flags & PF_EXITING)) {
		pxt_gate_thread_born(fork->target);
		/*
		 * A program that creates threads has loaded its C library. A log needs the mapping
		 * of that library to tell the owner of a mutex, even if the program never calls
		 * SYNC.
		 */
		if (!thread_group_leader(current))
			pxt_target_look_once(fork->target);
	}
	finish_fork(fork);
}

static void inherit(struct pxt_fork *fork)
{
	struct pxt_target *target = pxt_target_born(fork->child, fork->target->table);
	struct pxt_stream *stream;
	u32 slot;
	int err;

	if (target) {
		pxt_image_adopt(target->table, &target->author, fork->image);
		fork->image = NULL;
		pxt_target_note_memory(target, current);
		pxt_target_take_after(target, fork->target);
	}
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = fork->stream[slot];
		if (!stream)
			continue;
		err = target ? pxt_gate_inherit(target, &stream->link) : -ENOMEM;
		if (err == -ENOMEM && !fatal_signal_pending(current))
			atomic_inc(&stream->untraced);
		if (err)
			pxt_gate_gone(&stream->link);
	}
	if (!target)
		return;
	/* No effect if the child has the command line of its parent, or if no log needs it. */
	pxt_target_look(target, false);
	pxt_target_put(target);
}

static void disinherit(struct pxt_fork *fork)
{
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (fork->stream[slot])
			pxt_gate_gone(&fork->stream[slot]->link);
	}
}

static void process_begins(struct callback_head *work)
{
	struct pxt_fork *fork = container_of(work, struct pxt_fork, child_work);
	struct pid *child = fork->child;
	unsigned long flags;

	/*
	 * A child killed before it runs records no events, so it need not inherit. It does not
	 * count as untraced either.
	 */
	if (current->flags & PF_EXITING || fatal_signal_pending(current))
		disinherit(fork);
	else
		inherit(fork);
	raw_spin_lock_irqsave(&pxt_forks_lock, flags);
	hlist_del_rcu(&fork->begun_node);
	raw_spin_unlock_irqrestore(&pxt_forks_lock, flags);
	/*
	 * Remove from the hash, then check for waiters. Pairs with the barrier in
	 * prepare_to_wait_event(), between joining the queue and begun().
	 */
	smp_mb();
	wake_up_var(child);
	fork_put(fork);
	module_put(THIS_MODULE);
}

/* ------------------------------------------------------------------ */
/* At the fork								*/

static bool is_inherited(const struct pxt_stream *stream)
{
	return stream && stream->attr.inherited == POSIXTRACE_INHERITED;
}

static void refill(struct callback_head *work)
{
	struct pxt_target *target = container_of(work, struct pxt_target, refill_work);

	clear_bit(PXT_TARGET_REFILL, &target->works);
	/* If this fails, the next fork tries again. */
	if (!(current->flags & PF_EXITING))
		pxt_fork_pool_reserve(&target->forks, get_nr_threads(current));
	pxt_target_put(target);
	module_put(THIS_MODULE);
}

/* The pool is empty because an allocation failed. Retry before the caller returns to user mode. */
static void refill_later(struct pxt_target *target)
{
	/* If another forking thread has queued the work, that runs soon enough. */
	if (test_and_set_bit(PXT_TARGET_REFILL, &target->works) ||
	    !kref_get_unless_zero(&target->kref))
		return;
	__module_get(THIS_MODULE);
	init_task_work(&target->refill_work, refill);
	/* Cannot fail: the caller has not exited. */
	task_work_add(current, &target->refill_work, TWA_RESUME);
}

/*
 * Does a child inherit streams or event types? A child that shares its parent's memory must share
 * even the types that are opened later, because trace points in that memory store their ids. Called
 * under RCU.
 */
static bool hands_down(const struct pxt_target *target, const struct task_struct *child)
{
	u32 slot;

	if (child->mm == current->mm)
		return true;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (is_inherited(pxt_stream_in(target, slot)))
			return true;
	}
	return pxt_table_has_names(target->table);
}

/* Called under RCU. */
static void collect_streams(struct pxt_fork *fork)
{
	struct pxt_stream *stream;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = pxt_stream_in(fork->target, slot);
		fork->stream[slot] = NULL;
		if (!is_inherited(stream) || !kref_get_unless_zero(&stream->kref))
			continue;
		fork->stream[slot] = stream;
		/* Count the child now: the parent may exit before the child runs. */
		atomic_inc(&stream->link.nr_targets);
	}
}

static void count_untraced(const struct pxt_target *target)
{
	struct pxt_stream *stream;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = pxt_stream_in(target, slot);
		if (is_inherited(stream))
			atomic_inc(&stream->untraced);
	}
}

static void begin_process(struct pxt_fork *fork, struct task_struct *child)
{
	unsigned long flags;

	pxt_table_note_first(fork->target->table, current_cred());
	collect_streams(fork);
	fork->image = pxt_image_get(&fork->target->author);
	/* The struct pid lives as long as the child, which removes @fork from the hash. */
	fork->child = task_tgid(child);
	init_task_work(&fork->child_work, process_begins);
	raw_spin_lock_irqsave(&pxt_forks_lock, flags);
	hlist_add_head_rcu(&fork->begun_node, begun_bucket(fork->child));
	raw_spin_unlock_irqrestore(&pxt_forks_lock, flags);
}

static void begin_thread(struct pxt_fork *fork)
{
	memset(fork->stream, 0, sizeof(fork->stream));
	fork->child = NULL;
	fork->image = NULL;
	init_task_work(&fork->child_work, child_starts);
}

/* Takes over one reference to @target. */
static void begin(struct pxt_fork *fork, struct pxt_target *target, struct task_struct *child,
		  bool process)
{
	fork->target = target;
	refcount_set(&fork->users, 2);
	if (process)
		begin_process(fork, child);
	else
		begin_thread(fork);
	init_task_work(&fork->parent_work, fork_returns);
	/* One module reference per work. */
	__module_get(THIS_MODULE);
	__module_get(THIS_MODULE);
	/* Neither call can fail: the child has not run, and the caller has not exited. */
	task_work_add(child, &fork->child_work, TWA_RESUME);
	task_work_add(current, &fork->parent_work, TWA_RESUME);
}

/**
 * pxt_fork_noticed() - note a new child or thread of the calling process
 * @child: has not run yet; does not run before this returns
 *
 * Context: in a tracepoint; must not sleep.
 */
void pxt_fork_noticed(struct task_struct *child)
{
	bool process = !same_thread_group(child, current);
	struct pxt_target *target;
	struct pxt_fork *fork;

	if (child->flags & PF_KTHREAD)
		return;
	/*
	 * Pairs with the barrier in pxt_shared_tp_look(): either that function finds the child, or
	 * this function finds the target.
	 */
	smp_mb();
	rcu_read_lock();
	target = pxt_target_lookup(task_tgid(current));
	if (!target)
		goto unlock;
	if (process ? child->mm == current->mm : pxt_shared_tp_born(target, child))
		pxt_gate_outdate(target);
	if (process && !hands_down(target, child))
		goto unlock;
	/* Succeeds while a stream traces the process, as the module cannot be unloaded then. */
	if (!try_module_get(THIS_MODULE))
		goto unlock;
	fork = pxt_fork_pool_take(&target->forks);
	if (fork && kref_get_unless_zero(&target->kref))
		begin(fork, target, child, process);
	else if (fork)
		pxt_fork_pool_give(&target->forks, fork);
	else if (process)
		count_untraced(target);
	if (!fork)
		refill_later(target);
	module_put(THIS_MODULE);
unlock:
	rcu_read_unlock();
}

static bool begun(const struct pid *pid)
{
	const struct pxt_fork *fork;
	bool found = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(fork, begun_bucket(pid), begun_node) {
		found = fork->child == pid;
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

/**
 * pxt_fork_wait() - wait until a new process has inherited streams and event types
 * @task: any thread of the process
 *
 * Without the wait, the process might become a target with separate event types. Context: may
 * sleep.
 *
 * Return: 0; -ESRCH if its fork is incomplete or it was reaped; -ERESTARTSYS.
 */
int pxt_fork_wait(struct task_struct *task)
{
	struct pid *pid;
	int err;

	/* While TASK_NEW is set, pxt_fork_noticed() may not have been called yet. */
	if (READ_ONCE(task->__state) & TASK_NEW)
		return -ESRCH;
	/* Pairs with an unlock and a lock between pxt_fork_noticed() and clearing TASK_NEW. */
	smp_rmb();
	pid = get_task_pid(task, PIDTYPE_TGID);
	if (!pid)
		return -ESRCH;
	/* Waits on @pid, so that only this process wakes the caller, not each new process. */
	err = wait_var_event_interruptible(pid, !begun(pid));
	put_pid(pid);
	return err;
}
