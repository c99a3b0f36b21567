/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_DEVICE_H
#define PXT_DEVICE_H

#include <linux/seq_file.h>

#include "stream/stream.h"
#include "target/attachment.h"

/* create.c */
struct pxt_stream *pxt_create(const struct posixtrace_create *arg, struct file *file);
void pxt_create_result(const struct pxt_stream *stream, struct posixtrace_create *arg);

/* command.c */
long pxt_command_stream(struct pxt_stream *stream, unsigned int cmd, void __user *arg);
long pxt_command_target(struct pxt_target *target, unsigned int cmd, void __user *arg);

/* attached.c */
long pxt_attached_command(struct pxt_attachment *att, unsigned int cmd, void __user *uarg);
bool pxt_attached_acts(struct pxt_attachment *att);
bool pxt_attached_owns(const struct pxt_attachment *att);

/* logworker.c */
long pxt_log_work(struct pxt_stream *stream);

/* fdinfo.c */
void pxt_fdinfo_none(struct seq_file *m);
void pxt_fdinfo_stream(struct seq_file *m, struct pxt_stream *stream);
void pxt_fdinfo_attachment(struct seq_file *m, const struct pxt_attachment *att);

#endif /* PXT_DEVICE_H */
