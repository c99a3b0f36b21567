/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGTHREAD_H
#define PXT_LOGTHREAD_H

#include "log/log.h"

int pxt_log_begin(struct pxt_log *log, pid_t pid, const u8 *boot_id);

/* logserve.c */
int pxt_log_serve(struct pxt_log *log);

/* notes.c, in the task that serves */
int pxt_notes_write(struct pxt_log *log);

/* flush.c, in the task that serves */
int pxt_flush(struct pxt_log *log);
int pxt_flush_last(struct pxt_log *log);
bool pxt_flush_pending(const struct pxt_log *log);

#endif /* PXT_LOGTHREAD_H */
