/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PROCESS_H
#define PXT_PROCESS_H

struct pxt_target;
struct task_struct;

int pxt_process_init(void);
void pxt_process_exit(void);
void pxt_process_look(struct pxt_target *target, struct task_struct *task);

#endif /* PXT_PROCESS_H */
