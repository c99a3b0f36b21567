/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGTHREAD_H
#define PXT_LOGTHREAD_H

#include <linux/types.h>

struct pxt_log;

int pxt_log_begin(struct pxt_log *log, pid_t pid, const u8 *boot_id);

#endif /* PXT_LOGTHREAD_H */
