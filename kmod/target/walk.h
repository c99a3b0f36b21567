/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WALK_H
#define PXT_WALK_H

#include <linux/types.h>

struct task_struct;

/*
 * A walk that was cut short starts over so often. Then the caller takes the answer that is safe: a
 * process can make each walk fail if it ends threads all the time.
 */
#define PXT_WALK_TRIES	8

/**
 * struct pxt_walk - a walk over threads or processes
 * @seen: how many tasks since RCU was entered
 *
 * Begins zeroed, on the stack of the caller.
 */
struct pxt_walk {
	u32 seen;
};

bool pxt_walk_step(struct pxt_walk *walk, struct task_struct *process, struct task_struct *thread);
bool pxt_walk_retry(u32 tries);
int pxt_walk_threads(struct task_struct *process,
		     bool (*visit)(struct task_struct *thread, void *arg), void *arg);

#endif /* PXT_WALK_H */
