/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CDEV_H
#define PXT_CDEV_H

int pxt_cdev_init(void);
void pxt_cdev_exit(void);

#endif /* PXT_CDEV_H */
