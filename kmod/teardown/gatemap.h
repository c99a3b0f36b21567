/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_GATEMAP_H
#define PXT_GATEMAP_H

#include <linux/mm_types.h>

struct pxt_attachment;

int pxt_gatemap_init(int (*door)(struct pxt_attachment *att));
void pxt_gatemap_exit(void);
int pxt_gatemap(struct pxt_attachment *att, struct vm_area_struct *vma);

#endif /* PXT_GATEMAP_H */
