/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TARGETS_H
#define PXT_TARGETS_H

struct pid;
struct pxt_target;

void pxt_targets_init(void);
struct pxt_target *pxt_target_lookup(struct pid *pid);
struct pxt_target *pxt_target_find(struct pid *pid);
struct pxt_target *pxt_targets_add(struct pxt_target *target);
void pxt_targets_remove(struct pxt_target *target);
struct pxt_target *pxt_targets_next(unsigned int *at);

#endif /* PXT_TARGETS_H */
