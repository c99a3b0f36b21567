/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PERMISSION_H
#define PXT_PERMISSION_H

#include <linux/types.h>

u64 pxt_permission_classes(void);

#endif /* PXT_PERMISSION_H */
