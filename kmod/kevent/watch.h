/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WATCH_H
#define PXT_WATCH_H

#include <linux/compiler.h>
#include <linux/types.h>

struct pxt_memo;
struct task_struct;

void pxt_watch_init(void);
void pxt_watch_out(const struct task_struct *task) __cold;
void pxt_watch_wakeup(const struct pxt_memo *memo, struct task_struct *task) __cold;
void pxt_watch_in(const struct pxt_memo *memo, struct task_struct *task, u64 since) __cold;

#endif /* PXT_WATCH_H */
