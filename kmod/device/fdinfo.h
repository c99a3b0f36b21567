/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FDINFO_H
#define PXT_FDINFO_H

#include <linux/seq_file.h>

struct pxt_attachment;
struct pxt_stream;

void pxt_fdinfo_none(struct seq_file *m);
void pxt_fdinfo_stream(struct seq_file *m, struct pxt_stream *stream);
void pxt_fdinfo_attachment(struct seq_file *m, const struct pxt_attachment *att);

#endif /* PXT_FDINFO_H */
