/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SHUTDOWN_H
#define PXT_SHUTDOWN_H

#include <linux/fs.h>

struct pxt_stream;

void pxt_stream_shutdown(struct pxt_stream *stream);
int pxt_stream_end(struct pxt_stream *stream);
void pxt_stream_free_memory(struct pxt_stream *stream);
void pxt_stream_close(struct pxt_stream *stream, struct file *file);
void pxt_stream_abort(struct pxt_stream *stream);
void pxt_stream_end_owner(void);

#endif /* PXT_SHUTDOWN_H */
