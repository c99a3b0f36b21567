/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SCOPE_H
#define PXT_SCOPE_H

struct pid;
struct task_struct;

/**
 * enum pxt_scope - what trace_scope allows a controller to do with a process
 * @PXT_SCOPE_YES: the controller may trace the process
 * @PXT_SCOPE_POWER: only with CAP_SYS_PTRACE over the process
 * @PXT_SCOPE_NO: the controller may not trace it
 */
enum pxt_scope { PXT_SCOPE_YES, PXT_SCOPE_POWER, PXT_SCOPE_NO };

enum pxt_scope pxt_scope_of(struct task_struct *task, const struct pid *controller);

#endif /* PXT_SCOPE_H */
