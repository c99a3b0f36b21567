/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TRACED_H
#define PXT_TRACED_H

#include <linux/pid.h>
#include <linux/types.h>

struct pid_namespace;
struct pxt_link;
struct pxt_target;
struct task_struct;

bool pxt_traced_by(const struct pxt_link *link, const struct pxt_target *target);
struct task_struct *pxt_traced_next(const struct pxt_link *link, struct pid_namespace *ns,
				    enum pid_type type, pid_t *next, struct pxt_target **target);

#endif /* PXT_TRACED_H */
