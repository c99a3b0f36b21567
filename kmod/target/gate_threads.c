// SPDX-License-Identifier: GPL-2.0
/*
 * Passes what happens to threads of traced processes to the streams with a log, for their names.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "target/gate.h"
#include "target/logtasks.h"
#include "target/table.h"
#include "target/target.h"

/**
 * pxt_gate_thread_born() - note the calling thread, which has not run yet
 * @target: its process
 *
 * A stream that starts to trace the process in parallel finds the thread itself. Context: may
 * sleep.
 */
void pxt_gate_thread_born(struct pxt_target *target)
{
	HLIST_HEAD(memory);
	struct pxt_link *link;
	u32 logs = pxt_gate_count_logs(target), slot;

	if (!logs)
		return;
	pxt_logtasks_prepare(&memory, logs);
	mutex_lock(&target->table->lock);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (link)
			pxt_logtasks_born(link->logtasks, target, &memory);
	}
	mutex_unlock(&target->table->lock);
	pxt_logtasks_unprepare(&memory);
}

/**
 * pxt_gate_thread_renamed() - note the new name of a thread
 * @target: its process
 * @task: the thread
 * @comm: its new name
 *
 * Context: in a tracepoint, under RCU; must not sleep.
 */
void pxt_gate_thread_renamed(struct pxt_target *target, struct task_struct *task, const char *comm)
{
	const struct pxt_link *link;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = rcu_dereference(target->slot[slot]);
		if (link)
			pxt_logtasks_renamed(link->logtasks, task, comm);
	}
}

/**
 * pxt_gate_thread_ends() - note that the calling thread exits
 * @target: its process
 * @task: the thread
 *
 * Context: in a tracepoint, under RCU; must not sleep.
 */
void pxt_gate_thread_ends(struct pxt_target *target, struct task_struct *task)
{
	const struct pxt_link *link;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = rcu_dereference(target->slot[slot]);
		if (link)
			pxt_logtasks_ends(link->logtasks, task);
	}
}
