/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_MEMORY_H
#define PXT_MEMORY_H

#include <linux/compiler.h>
#include <linux/sched.h>

struct pxt_target;

void pxt_target_note_memory(struct pxt_target *target, struct task_struct *task);
bool pxt_target_shares_memory(void);

static inline bool pxt_thread_uses(const struct task_struct *thread, const struct mm_struct *mm)
{
	/*
	 * An exiting thread clears mm with a plain store. The answer may be stale immediately.
	 */
	return data_race(READ_ONCE(thread->mm)) == mm;
}

#endif /* PXT_MEMORY_H */
