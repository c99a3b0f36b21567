// SPDX-License-Identifier: GPL-2.0
/*
 * Walks over threads and processes. A user may have tens of thousands of them, and a walk in one
 * RCU section would keep other tasks from the CPU, so each walk leaves RCU periodically.
 *
 * Documentation/locking.rst ("Walks") lists all walks.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "target/walk.h"

/* Tasks between two calls of cond_resched(). Visiting a task takes at most a microsecond. */
#define STEP	64

/*
 * Are the process and the thread still in their lists? If not, the next task in the list may have
 * been freed, so the walk cannot continue.
 *
 * The kernel clears the pid before it removes a task from the lists. A thread that executes a
 * program replaces the main thread in the list of processes.
 */
static bool are_listed(struct task_struct *process, struct task_struct *thread)
{
	return pid_alive(process) && pid_alive(thread) &&
	       (process != thread || thread_group_leader(process));
}

/**
 * pxt_walk_step() - go to the next task
 * @walk: counts the tasks
 * @process: current process of the walk
 * @thread: current thread of that process; @process itself in a walk over processes
 *
 * Periodically leaves RCU, lets other tasks run, and enters RCU again. Objects that the caller
 * found under RCU may be gone then, except for the two tasks if this returns true.
 *
 * Context: under RCU only; may sleep.
 * Return: true if the walk can continue from here; false if one of the tasks has left its list or
 * the caller is being killed.
 */
bool pxt_walk_step(struct pxt_walk *walk, struct task_struct *process, struct task_struct *thread)
{
	bool listed;

	if (++walk->seen < STEP)
		return true;
	walk->seen = 0;
	get_task_struct(process);
	get_task_struct(thread);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	listed = are_listed(process, thread);
	put_task_struct(thread);
	put_task_struct(process);
	return listed && !fatal_signal_pending(current);
}

/**
 * pxt_walk_retry() - check if an incomplete walk should be retried
 * @tries: number of retries so far
 */
bool pxt_walk_retry(u32 tries)
{
	return tries < PXT_WALK_TRIES && !fatal_signal_pending(current);
}

/**
 * pxt_walk_threads() - visit all threads of a process
 * @process: any thread of the process; the caller has a reference
 * @visit: called under RCU; the walk ends if it returns true
 * @arg: passed to @visit
 *
 * Threads created or ended during the walk may be missed. Context: may sleep.
 *
 * Return: 1 if @visit ended the walk; 0 if it saw all threads; -EAGAIN if the walk is incomplete:
 * see pxt_walk_retry().
 */
int pxt_walk_threads(struct task_struct *process,
		     bool (*visit)(struct task_struct *thread, void *arg), void *arg)
{
	struct pxt_walk walk = { 0 };
	struct task_struct *thread;
	int ret = 0;

	rcu_read_lock();
	for_each_thread(process, thread) {
		if (visit(thread, arg))
			ret = 1;
		else if (!pxt_walk_step(&walk, process, thread))
			ret = -EAGAIN;
		if (ret)
			break;
	}
	rcu_read_unlock();
	return ret;
}
