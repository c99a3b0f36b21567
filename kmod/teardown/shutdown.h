/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SHUTDOWN_H
#define PXT_SHUTDOWN_H

struct pxt_stream;

void pxt_stream_shutdown(struct pxt_stream *stream);
void pxt_stream_free_memory(struct pxt_stream *stream);

#endif /* PXT_SHUTDOWN_H */
