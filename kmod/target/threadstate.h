/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_THREADSTATE_H
#define PXT_THREADSTATE_H

#include <linux/types.h>

struct pid_namespace;
struct posixtrace_state;
struct pxt_link;

u32 pxt_threadstate_fill(const struct pxt_link *link, struct pid_namespace *ns,
			 struct posixtrace_state *to, u32 room, pid_t *next);

#endif /* PXT_THREADSTATE_H */
