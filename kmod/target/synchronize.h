/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SYNCHRONIZE_H
#define PXT_SYNCHRONIZE_H

#include <linux/cpumask.h>
#include <linux/mm_types.h>

struct pid;

/**
 * struct pxt_synchronize - the CPUs that a synchronization has to reach
 * @mask: CPUs that may run a writer
 * @all: reach all CPUs: there was no memory for @mask, or the architecture cannot say
 * @strangers: some of the CPUs may run no traced process
 *
 * Lives on the stack of the caller.
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
