/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TWINS_H
#define PXT_TWINS_H

#include <linux/sched.h>

#include "target/target.h"

bool pxt_twins_born(struct pxt_target *target, const struct task_struct *child);
int pxt_twins_look(struct pxt_target *target);

#endif /* PXT_TWINS_H */
