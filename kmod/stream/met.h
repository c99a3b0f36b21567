/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_MET_H
#define PXT_MET_H

struct posixtrace_met;
struct pxt_target;

int pxt_met(struct pxt_target *target, const struct posixtrace_met *arg);

#endif /* PXT_MET_H */
