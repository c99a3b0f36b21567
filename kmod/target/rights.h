/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RIGHTS_H
#define PXT_RIGHTS_H

#include <linux/types.h>

struct cred;
struct pid;
struct task_struct;

int pxt_rights_create(struct task_struct *task);
bool pxt_rights_keep(const struct pid *controller, const struct cred *cred, bool secure,
		     bool alone);
bool pxt_rights_over(const struct cred *tcred);
bool pxt_rights_may_end(const struct pid *controller, const struct cred *cred);
bool pxt_rights_power(void);
bool pxt_rights_name(const struct pid *controller, const struct cred *cred, bool power);

#endif /* PXT_RIGHTS_H */
