/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_MMAP_H
#define PXT_MMAP_H

#include <linux/fs.h>
#include <linux/mm_types.h>

#include "stream/stream.h"
#include "target/attachment.h"

int pxt_mmap_init(int (*door)(struct pxt_attachment *att));
void pxt_mmap_exit(void);
int pxt_mmap_open(struct file *file);
void pxt_mmap_join(struct file *file, struct pxt_attachment *att);
void pxt_mmap_release(struct file *file);
int pxt_mmap_make_file(struct pxt_stream *stream, struct file *file);
int pxt_mmap_stream(struct pxt_stream *stream, struct vm_area_struct *vma);
int pxt_mmap_target(struct pxt_attachment *att, struct vm_area_struct *vma);
int pxt_mmap_command(struct file *file, void __user *uarg);
void pxt_mmap_zap(struct pxt_stream *stream);

#endif /* PXT_MMAP_H */
