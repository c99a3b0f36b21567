// SPDX-License-Identifier: GPL-2.0
/*
 * Finds what wakes a thread: the current thread, a softirq in its context, a timer, another
 * interrupt, the end of a child, a signal, or a thread of the kernel.
 */
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

#include "compat.h"
#include "kevent/waker.h"

/* The first half of the hrtimer clocks runs timers in hard interrupts, the second in softirqs. */
#define CLOCKS		(HRTIMER_MAX_CLOCK_BASES / 2)

/* The timers of each CPU, which the kernel does not export. */
static struct hrtimer_cpu_base __percpu *timers;

static DEFINE_PER_CPU(char, here);

static enum hrtimer_restart never(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/**
 * pxt_waker_init() - find the timers of the CPUs
 *
 * A new timer points to the base of this CPU, which has the same per-CPU offset on all CPUs.
 */
void pxt_waker_init(void)
{
	static struct hrtimer timer;
	unsigned long offset;

	preempt_disable();
	pxt_hrtimer_setup(&timer, never, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	offset = (unsigned long)this_cpu_ptr(&here) - (__force unsigned long)&here;
	timers = (__force struct hrtimer_cpu_base __percpu *)
		 ((unsigned long)timer.base->cpu_base - offset);
	preempt_enable();
}

/* Does this CPU run the function of a timer in the current hard interrupt or softirq? */
static bool in_timer(bool hard)
{
	const struct hrtimer_clock_base *clock = this_cpu_ptr(timers)->clock_base;
	u32 i;

	if (!hard)
		clock += CLOCKS;
	for (i = 0; i < CLOCKS; i++) {
		if (READ_ONCE(clock[i].running))
			return true;
	}
	return false;
}

/**
 * pxt_waker_ended_child() - check if the current thread informs a parent of its end
 * @task: the thread that is sent a signal or woken; may belong to the parent or a debugger
 *
 * A thread with exit_state set does nothing but inform other processes of its end.
 *
 * Context: any.
 * Return: true if @task belongs to the parent process.
 */
bool pxt_waker_ended_child(struct task_struct *task)
{
	const struct task_struct *parent;
	bool found;

	if (likely(!current->exit_state))
		return false;
	rcu_read_lock();
	parent = rcu_dereference(current->parent);
	/*
	 * The last thread of a process may already be removed from the process when it informs the
	 * parent of the end of the main thread. The kernel then no longer updates current->parent.
	 * The task_struct at this address may be reused by now, but only for a younger task.
	 */
	if (pid_alive(current))
		found = parent->tgid == task->tgid;
	else
		found = (parent == task || parent == task->group_leader) &&
			parent->start_time <= current->start_time;
	rcu_read_unlock();
	return found;
}

/*
 * Is the thread woken to take a signal? A pending signal is new: it was not pending when the thread
 * began to wait. SIGCONT wakes a stopped thread before the signal is pending.
 */
static bool has_signal(struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	if (state & __TASK_STOPPED)
		return true;
	if (!task_sigpending(task))
		return false;
	return state & TASK_INTERRUPTIBLE ||
	       (state & TASK_WAKEKILL && sigismember(&task->pending.signal, SIGKILL));
}

static void set(struct pxt_waker *waker, u8 by, u8 anonymous)
{
	waker->by = by;
	waker->anonymous = anonymous;
}

/* Set a waker that is not a thread of a process. */
static void set_nameless(struct pxt_waker *waker, u8 by)
{
	waker->task = NULL;
	set(waker, by, by);
}

/* The softirqs of ksoftirqd, the idle thread and other kernel threads belong to no thread. */
static void look_in_softirq(struct pxt_waker *waker)
{
	if (in_timer(false))
		set_nameless(waker, PXT_WAKER_TIMER);
	else if (current->flags & PF_KTHREAD)
		set_nameless(waker, PXT_WAKER_INTERRUPT);
	else
		set(waker, PXT_WAKER_SOFTIRQ, PXT_WAKER_INTERRUPT);
}

/**
 * pxt_waker_look() - find the less common wakers for pxt_waker_of()
 * @waker: the current thread; changed if that is not the waker
 * @task: the thread that is woken
 *
 * Context: as pxt_waker_of().
 */
void pxt_waker_look(struct pxt_waker *waker, struct task_struct *task)
{
	if (in_hardirq()) {
		set_nameless(waker, in_timer(true) ? PXT_WAKER_TIMER : PXT_WAKER_INTERRUPT);
	} else if (in_serving_softirq()) {
		look_in_softirq(waker);
	} else if (pxt_waker_ended_child(task)) {
		set(waker, PXT_WAKER_CHILD, PXT_WAKER_CHILD);
	} else if (has_signal(task)) {
		set(waker, PXT_WAKER_SIGNAL, PXT_WAKER_SIGNAL);
		if (current->flags & PF_KTHREAD)
			waker->task = NULL;
	} else if (current->flags & PF_KTHREAD) {
		set_nameless(waker, PXT_WAKER_KERNEL);
	}
}
