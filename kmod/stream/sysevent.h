/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SYSEVENT_H
#define PXT_SYSEVENT_H

#include "stream/stream.h"

/**
 * struct pxt_caller - the thread that causes a system event
 * @prog_address: the instruction after the call
 * @thread_id: pthread_t
 * @pid: in the pid namespace of the controller
 * @tid: in the pid namespace of the controller
 */
struct pxt_caller {
	u64 prog_address;
	u64 thread_id;
	pid_t pid;
	pid_t tid;
};

struct pxt_caller pxt_sysevent_caller(const struct pxt_stream *stream,
				      const struct posixtrace_origin *origin);
int pxt_sysevent_prepare(struct pxt_stream *stream, u32 data_len);
u64 pxt_sysevent_start(struct pxt_stream *stream, const struct pxt_caller *caller);
u64 pxt_sysevent_filter(struct pxt_stream *stream, const struct pxt_caller *caller,
			const struct posixtrace_event_set sets[2]);
u64 pxt_sysevent_stop(struct pxt_stream *stream, const struct pxt_caller *caller);
void pxt_sysevent_flush(struct pxt_stream *stream, u32 id, const struct pxt_caller *caller);

#endif /* PXT_SYSEVENT_H */
