/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FLUSH_H
#define PXT_FLUSH_H

#include <linux/types.h>

struct pxt_log;

int pxt_flush(struct pxt_log *log);
int pxt_flush_last(struct pxt_log *log);
int pxt_flush_file(struct pxt_log *log);
bool pxt_flush_pending(const struct pxt_log *log);

#endif /* PXT_FLUSH_H */
