// SPDX-License-Identifier: MIT
/*
 * Commands of a controller to its stream: start, stop, flush, clear; attributes and status of a
 * stream or log.
 */
#include "common/sys.h"
#include "stream/reader.h"
#include "stream/stream.h"

/* Send a command and identify the caller of the public function in the event. */
static int control(trace_id_t trid, unsigned long cmd, void *prog_address)
{
	struct posixtrace_origin origin = {
		.prog_address = (uintptr_t)prog_address,
		.thread_id = (uintptr_t)pthread_self(),
	};
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	int err;

	if (!stream)
		return -EINVAL;
	err = pxtu_stream_ioctl(stream, cmd, &origin);
	pxtu_stream_put(stream);
	return err;
}

/**
 * posix_trace_start() - start recording
 * @trid: trace id
 *
 * Records POSIX_TRACE_START with the filter as its data. Has no effect if the stream is
 * already running or is full.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process; ENOMEM.
 */
PXTU_API int posix_trace_start(trace_id_t trid)
{
	return pxtu_error(control(trid, POSIXTRACE_IOC_START, __builtin_return_address(0)));
}

/**
 * posix_trace_stop() - suspend a stream
 * @trid: trace id
 *
 * After this returns, no more events are recorded, and POSIX_TRACE_STOP with an int of 0 is the
 * last one. Has no effect if the stream is already suspended or is full.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process.
 */
PXTU_API int posix_trace_stop(trace_id_t trid)
{
	return pxtu_error(control(trid, POSIXTRACE_IOC_STOP, __builtin_return_address(0)));
}

/**
 * posix_trace_flush() - write the recorded events of a stream into its log
 * @trid: trace id
 *
 * Returns immediately; posix_trace_get_status() reports the end of the flush, and its error.
 * A running stream continues, and records POSIX_TRACE_FLUSH_START and
 * POSIX_TRACE_FLUSH_STOP; a full stream is restarted.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream with log of this process.
 */
PXTU_API int posix_trace_flush(trace_id_t trid)
{
	return pxtu_error(control(trid, POSIXTRACE_IOC_FLUSH, __builtin_return_address(0)));
}

/**
 * posix_trace_clear() - discard all events of a stream
 * @trid: trace id
 *
 * Resets the stream to its state after creation, except that a running stream keeps running,
 * and the filter and the event types remain. A full stream becomes suspended and not full. If
 * the stream has a log, the log restarts from its beginning.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process; the write error if
 * the log cannot be restarted.
 */
PXTU_API int posix_trace_clear(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	int err, cancel;

	if (!stream)
		return EINVAL;
	if (!stream->source.readable) {
		/*
		 * All events are in the kernel, so the lock is not needed. The command may take
		 * long.
		 */
		err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_CLEAR, NULL);
		goto put;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* Under the lock, also clear the events that were taken but not reported. */
	pthread_mutex_lock(stream->source.lock);
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_CLEAR, NULL);
	if (!err)
		pxtu_reader_clear(&stream->reader);
	pthread_mutex_unlock(stream->source.lock);
	pthread_setcancelstate(cancel, NULL);
put:
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posix_trace_get_attr() - get the attributes of a stream or log
 * @trid: trace id
 * @attr: result; need not be initialized
 *
 * The sizes are the granted ones, and the stream-full-policy is the one in effect. A log
 * has the attributes of the stream that wrote it.
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process or @attr is
 * NULL.
 */
PXTU_API int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct pxtu_source *source;
	int err;

	if (!attr)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	err = source->ops->get_attr(source, attr);
	pxtu_trid_put(source);
	return pxtu_error(err);
}

/**
 * posix_trace_get_status() - get the status of a stream or log
 * @trid: trace id
 * @statusinfo: result
 *
 * A consistent snapshot. For an active stream, this resets the overrun statuses and the error of a
 * flush. The overrun status of the stream is also set if a traced process damaged records and
 * this process had to discard them.
 *
 * For a log, this resets nothing. A log counts as suspended. Both overrun statuses report losses;
 * the overrun status of the log also reports that the log is not complete (yet), see
 * Documentation/trace-log.rst.
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process or
 * @statusinfo is NULL; ENOMEM.
 */
PXTU_API int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	struct pxtu_source *source;
	int err;

	if (!statusinfo)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	err = source->ops->get_status(source, statusinfo);
	pxtu_trid_put(source);
	return pxtu_error(err);
}
