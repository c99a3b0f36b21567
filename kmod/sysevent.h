/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SYSEVENT_H
#define PXT_SYSEVENT_H

#include "stream.h"

int pxt_sysevent_prepare(struct pxt_stream *stream, u32 data_len);
u64 pxt_sysevent_start(struct pxt_stream *stream, const struct posixtrace_origin *origin);
u64 pxt_sysevent_filter(struct pxt_stream *stream, const struct posixtrace_origin *origin,
			const struct posixtrace_event_set sets[2]);
u64 pxt_sysevent_stop(struct pxt_stream *stream, const struct posixtrace_origin *origin);

#endif /* PXT_SYSEVENT_H */
