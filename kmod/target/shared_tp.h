/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SHARED_TP_H
#define PXT_SHARED_TP_H

#include <linux/types.h>

struct pxt_target;
struct task_struct;

u64 pxt_thread_id(const struct task_struct *task);
bool pxt_shared_tp_born(struct pxt_target *target, const struct task_struct *child);
int pxt_shared_tp_look(struct pxt_target *target);

#endif /* PXT_SHARED_TP_H */
