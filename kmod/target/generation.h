/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_GENERATION_H
#define PXT_GENERATION_H

#include <linux/types.h>

void pxt_generation_init(void);
u64 pxt_generation_next(void);
u32 pxt_generation_number(void);

#endif /* PXT_GENERATION_H */
