/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_QUIESCE_H
#define PXT_QUIESCE_H

#include <linux/cpumask.h>
#include <linux/mm_types.h>

struct pid;

/**
 * struct pxt_quiesce - the CPUs that a quiesce has to reach
 * @mask: those that may run a writer
 * @all: all CPUs: no memory for @mask, or this architecture does not tell
 *
 * Lives on the stack of the one who waits.
 */
struct pxt_quiesce {
	cpumask_var_t mask;
	bool all;
};

void pxt_quiesce_begin(struct pxt_quiesce *q);
void pxt_quiesce_look(void);
void pxt_quiesce_add(struct pxt_quiesce *q, struct pid *pid, struct mm_struct *mm);
void pxt_quiesce_end(struct pxt_quiesce *q);

#endif /* PXT_QUIESCE_H */
