/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SYNCHRONIZE_H
#define PXT_SYNCHRONIZE_H

#include <linux/cpumask.h>
#include <linux/mm_types.h>

struct pid;

/**
 * struct pxt_synchronize - the CPUs that a synchronization must reach
 * @mask: CPUs that may run a writer
 * @all: reach all CPUs: @mask could not be allocated, or the architecture cannot tell
 * @strangers: some of the CPUs might not be running a traced process
 *
 * Lives on the caller's stack.
 */
struct pxt_synchronize {
	cpumask_var_t mask;
	bool all;
	bool strangers;
};

void pxt_synchronize_begin(struct pxt_synchronize *q);
void pxt_synchronize_look(void);
void pxt_synchronize_add(struct pxt_synchronize *q, struct pid *pid, struct mm_struct *mm);
void pxt_synchronize_cancel(struct pxt_synchronize *q);
void pxt_synchronize_end(struct pxt_synchronize *q);

#endif /* PXT_SYNCHRONIZE_H */
