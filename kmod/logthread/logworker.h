/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGWORKER_H
#define PXT_LOGWORKER_H

struct pxt_stream;
struct task_struct;

long pxt_log_work(struct pxt_stream *stream);
void pxt_log_thread_ends(struct task_struct *task);

#endif /* PXT_LOGWORKER_H */
