/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGTURN_H
#define PXT_LOGTURN_H

#include "log/log.h"

bool pxt_log_turn(struct pxt_log *log, enum pxt_logfile_server server);
bool pxt_log_take(struct pxt_log *log, enum pxt_logfile_server server);
void pxt_log_put(struct pxt_log *log);
void pxt_log_finish(struct pxt_log *log);
bool pxt_log_pauses(struct pxt_log *log);
u64 pxt_log_account(struct pxt_log *log);
u64 pxt_log_begin_work(struct pxt_log *log);
void pxt_log_end_work(struct pxt_log *log);
void pxt_log_rest(struct pxt_log *log, u64 delay);
bool pxt_log_take_request(struct pxt_log *log, int bit);
void pxt_log_want(struct pxt_log *log, int bit);
void pxt_log_wake(struct pxt_log *log);
int pxt_log_enter(struct pxt_log *log);
void pxt_log_leave(struct pxt_log *log);
bool pxt_log_begin_close(struct pxt_log *log);
void pxt_log_end_close(struct pxt_log *log);

#endif /* PXT_LOGTURN_H */
