// SPDX-License-Identifier: MIT
/*
 * Conditions on the traced threads, which the kernel checks.
 */
#include <posixtrace.h>

#include "common/sys.h"
#include "stream/stream.h"

/**
 * posixtrace_settrigger() - choose conditions on the traced threads
 * @trid: trace id of an active trace stream with the class sched
 * @blocked: a thread was blocked for more ns than this; 0 for no such condition
 * @runnable: a thread was runnable without running for more ns than this; 0 for no such condition
 *
 * An extension. From the time that a condition is met until it is reported, the descriptor of
 * posixtrace_fd() has POLLPRI. Replaces the former conditions, and forgets what was met. Threads of
 * the caller's process meet no condition.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process; ENOTSUP if the stream does
 * not have the class sched.
 */
PXTU_API int posixtrace_settrigger(trace_id_t trid, uint64_t blocked, uint64_t runnable)
{
	struct posixtrace_trigger arg = { .blocked = blocked, .runnable = runnable };
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	int err;

	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_TRIGGER, &arg);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posixtrace_get_triggered() - get the conditions that were met since the last call, and reset them
 * @trid: trace id of an active trace stream with the class sched
 * @info: result; all members are 0 if none was met
 *
 * An extension.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process, or @info is NULL; ENOTSUP
 * if the stream does not have the class sched.
 */
PXTU_API int posixtrace_get_triggered(trace_id_t trid, struct posixtrace_trigger_info *info)
{
	struct posixtrace_triggered met;
	struct pxtu_stream *stream;
	int err;

	if (!info)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_TRIGGERED, &met);
	pxtu_stream_put(stream);
	if (err)
		return pxtu_error(err);
	*info = (struct posixtrace_trigger_info){
		.count = met.count,
		.time = {
			.tv_sec = (time_t)(met.time / PXTU_NSEC_PER_SEC),
			.tv_nsec = (long)(met.time % PXTU_NSEC_PER_SEC),
		},
		.duration = met.duration,
		.kind = met.kind,
		.pid = met.pid,
		.tid = met.tid,
	};
	return 0;
}
