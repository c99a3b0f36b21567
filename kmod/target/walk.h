/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WALK_H
#define PXT_WALK_H

#include <linux/types.h>

struct task_struct;

/*
 * Maximum number of retries of an incomplete walk. After that the caller assumes the safe answer,
 * because a process can make each walk fail by ending threads all the time.
 */
#define PXT_WALK_TRIES	8

/**
 * struct pxt_walk - a walk over threads or processes
 * @seen: tasks visited since RCU was entered
 *
 * Starts zeroed, on the caller's stack.
 */
struct pxt_walk {
	u32 seen;
};

bool pxt_walk_step(struct pxt_walk *walk, struct task_struct *process, struct task_struct *thread);
bool pxt_walk_retry(u32 tries);
int pxt_walk_threads(struct task_struct *process,
		     bool (*visit)(struct task_struct *thread, void *arg), void *arg);

#endif /* PXT_WALK_H */
