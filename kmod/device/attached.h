/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ATTACHED_H
#define PXT_ATTACHED_H

#include <linux/types.h>

struct pxt_attachment;

long pxt_attached_command(struct pxt_attachment *att, unsigned int cmd, void __user *uarg);
bool pxt_attached_acts(struct pxt_attachment *att);
bool pxt_attached_owns(const struct pxt_attachment *att);

#endif /* PXT_ATTACHED_H */
