/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_END_H
#define PXT_END_H

#include <linux/fs.h>

struct pxt_stream;

int pxt_stream_end(struct pxt_stream *stream);
void pxt_stream_close(struct pxt_stream *stream, struct file *file);
void pxt_stream_abort(struct pxt_stream *stream);
void pxt_stream_end_owner(void);

#endif /* PXT_END_H */
