/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CDEV_H
#define PXT_CDEV_H

#include <linux/fs.h>
#include <linux/mm_types.h>

int pxt_cdev_init(void);
void pxt_cdev_exit(void);
struct mm_struct *pxt_cdev_attached_mm(const struct file *file);

#endif /* PXT_CDEV_H */
