/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RIGHTS_H
#define PXT_RIGHTS_H

#include <linux/fs.h>
#include <linux/sched.h>

int pxt_rights_create(struct task_struct *task);
bool pxt_rights_keep(const struct file *file, bool secure, bool alone);

#endif /* PXT_RIGHTS_H */
