/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_STATE_H
#define PXT_STATE_H

#include "stream/stream.h"

void pxt_state_publish(struct pxt_stream *stream);
void pxt_state_become_full(struct pxt_stream *stream, bool forced);
void pxt_state_log_full(struct pxt_stream *stream);
void pxt_state_kernel_full(struct pxt_stream *stream);
int pxt_state_kernel_stats(struct pxt_stream *stream, struct posixtrace_kernel_stats *stats);
int pxt_state_restart(struct pxt_stream *stream);
int pxt_state_start(struct pxt_stream *stream, const struct posixtrace_origin *origin);
int pxt_state_stop(struct pxt_stream *stream, const struct posixtrace_origin *origin);
int pxt_state_status(struct pxt_stream *stream, struct posixtrace_status *status);
int pxt_state_stats(struct pxt_stream *stream, struct posixtrace_stats *stats);
void pxt_state_unreported(struct pxt_stream *stream, const struct posixtrace_status *status);
int pxt_state_release(struct pxt_stream *stream, u32 subbuf);
int pxt_state_next(struct pxt_stream *stream, u32 size);

#endif /* PXT_STATE_H */
