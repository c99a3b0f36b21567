/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RIGHTS_H
#define PXT_RIGHTS_H

#include <linux/cred.h>
#include <linux/sched.h>

int pxt_rights_create(struct task_struct *task);
bool pxt_rights_keep(const struct cred *cred, bool secure, bool alone);

#endif /* PXT_RIGHTS_H */
