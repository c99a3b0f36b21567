/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FORK_H
#define PXT_FORK_H

struct task_struct;

void pxt_fork_noticed(struct task_struct *child);
int pxt_fork_wait(struct task_struct *task);

#endif /* PXT_FORK_H */
