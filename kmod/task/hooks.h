/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_HOOKS_H
#define PXT_HOOKS_H

#include <linux/sched.h>

struct pxt_target;

/* process.c */
int pxt_process_init(void);
void pxt_process_exit(void);
void pxt_process_look(struct pxt_target *target, struct task_struct *task);

/* fork.c */
void pxt_fork_noticed(struct task_struct *child);
int pxt_fork_wait(struct task_struct *task);

/* logworker.c */
void pxt_log_thread_ends(struct task_struct *task);

/* hotplug.c */
int pxt_hotplug_init(void);
void pxt_hotplug_exit(void);

#endif /* PXT_HOOKS_H */
