/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RECORD_H
#define PXT_RECORD_H

#include <linux/types.h>

struct posixtrace_event;
struct posixtrace_next;
struct pxt_target;

int pxt_record_event(struct pxt_target *target, struct posixtrace_event *arg);
int pxt_record_next(struct pxt_target *target, const struct posixtrace_next *arg);
void pxt_record_wake(struct pxt_target *target, u32 mask);

#endif /* PXT_RECORD_H */
