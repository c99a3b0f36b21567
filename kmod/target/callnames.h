/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CALLNAMES_H
#define PXT_CALLNAMES_H

#include <linux/types.h>

u32 pxt_call_args(unsigned long nr);
const char *pxt_call_names(u32 id);
int pxt_call_names_init(void);
void pxt_call_names_exit(void);

#endif /* PXT_CALLNAMES_H */
