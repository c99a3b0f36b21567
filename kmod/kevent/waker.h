/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAKER_H
#define PXT_WAKER_H

#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>

#include "kevent/kevent.h"

/**
 * struct pxt_waker - what wakes a thread
 * @task: the current thread, if it wakes the other thread itself or by a softirq in its context;
 *	NULL otherwise, and for threads of the kernel
 * @by: PXT_WAKER_*
 * @anonymous: PXT_WAKER_* for a controller that must not know @task
 */
struct pxt_waker {
	struct task_struct *task;
	u8 by;
	u8 anonymous;
};

void pxt_waker_init(void);
bool pxt_waker_ended_child(struct task_struct *task);
void pxt_waker_look(struct pxt_waker *waker, struct task_struct *task);

/**
 * pxt_waker_of() - find out what wakes a thread
 * @task: the thread, not yet woken
 *
 * Context: in a tracepoint of the scheduler, in the waker; interrupts are off.
 * Return: the waker.
 */
static __always_inline struct pxt_waker pxt_waker_of(struct task_struct *task)
{
	struct pxt_waker waker = {
		.task = current,
		.by = PXT_WAKER_THREAD,
		.anonymous = PXT_WAKER_ANOTHER,
	};

	/* Not in_interrupt(): a task that has merely disabled softirqs is the waker. */
	if (unlikely(in_hardirq() || in_serving_softirq() || current->exit_state ||
		     current->flags & PF_KTHREAD || task_sigpending(task) ||
		     READ_ONCE(task->__state) & __TASK_STOPPED))
		pxt_waker_look(&waker, task);
	return waker;
}

#endif /* PXT_WAKER_H */
