/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RUNNABLE_H
#define PXT_RUNNABLE_H

#include <linux/types.h>

struct task_struct;

void pxt_runnable_begin(struct task_struct *task, u64 now);
u64 pxt_runnable_end(struct task_struct *task);
void pxt_runnable_init(void);

#endif /* PXT_RUNNABLE_H */
