/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_MMAP_H
#define PXT_MMAP_H

#include <linux/fs.h>
#include <linux/mm_types.h>

#include "stream/stream.h"
#include "target/target.h"

int pxt_mmap_init(void);
void pxt_mmap_exit(void);
void pxt_mmap_open(struct file *file);
int pxt_mmap_stream(struct pxt_stream *stream, struct vm_area_struct *vma);
int pxt_mmap_target(struct pxt_target *target, struct vm_area_struct *vma);
int pxt_mmap_command(struct file *file, void __user *uarg);
void pxt_mmap_zap(struct pxt_stream *stream);

#endif /* PXT_MMAP_H */
