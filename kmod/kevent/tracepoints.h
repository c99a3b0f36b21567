/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TRACEPOINTS_H
#define PXT_TRACEPOINTS_H

#include <linux/types.h>

void pxt_tracepoints_init(void);
void pxt_tracepoints_exit(void);
u64 pxt_tracepoints_classes(void);
int pxt_tracepoints_get(u64 classes);
void pxt_tracepoints_put(u64 classes);

#endif /* PXT_TRACEPOINTS_H */
