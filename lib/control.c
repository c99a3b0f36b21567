// SPDX-License-Identifier: MIT
/*
 * What a controller does with its stream: start, stop, flush, clear; and attributes and status,
 * which a log has, too.
 */
#include "stream/stream.h"

/* A command on behalf of the caller of the public function. */
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
 * posix_trace_start() - let a stream record
 * @trid: trace id
 *
 * Records POSIX_TRACE_START with the filter as its data. Nothing happens if
 * the stream runs already or is full.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process; ENOMEM.
 */
PXTU_API int posix_trace_start(trace_id_t trid)
{
	return pxtu_error(control(trid, POSIXTRACE_IOC_START, __builtin_return_address(0)));
}

/**
 * posix_trace_stop() - suspend a stream
 * @trid: trace id
 *
 * When it returns, no event is recorded any more, and POSIX_TRACE_STOP with an
 * int of 0 is the last one. Nothing happens if the stream is suspended already
 * or is full.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process.
 */
PXTU_API int posix_trace_stop(trace_id_t trid)
{
	return pxtu_error(control(trid, POSIXTRACE_IOC_STOP, __builtin_return_address(0)));
}

/**
 * posix_trace_flush() - write what a stream has recorded into its log
 * @trid: trace id
 *
 * Returns at once; posix_trace_get_status() tells when it is done, and what failed.
 * A stream that runs goes on, and records POSIX_TRACE_FLUSH_START and
 * POSIX_TRACE_FLUSH_STOP; one that was full starts again.
 *
 * Return: 0; EINVAL if @trid is no active trace stream with log of this process.
 */
PXTU_API int posix_trace_flush(trace_id_t trid)
{
	return pxtu_error(control(trid, POSIXTRACE_IOC_FLUSH, __builtin_return_address(0)));
}

/**
 * posix_trace_clear() - throw away all events of a stream
 * @trid: trace id
 *
 * It is as if it had just been created, but that it runs on if it runs, and keeps
 * its filter and its event types. One that was full is suspended and not full. If it
 * has a log, that begins anew.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process; what writing
 * says if the log can not begin anew.
 */
PXTU_API int posix_trace_clear(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	int err, cancel;

	if (!stream)
		return EINVAL;
	if (!stream->source.readable) {
		/* Nothing of it is here, and the log may take its time. */
		err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_CLEAR, NULL);
		goto put;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* What we took out of the stream and did not report is a part of it. */
	pthread_mutex_lock(&stream->source.lock);
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_CLEAR, NULL);
	if (!err)
		pxtu_reader_clear(&stream->reader);
	pthread_mutex_unlock(&stream->source.lock);
	pthread_setcancelstate(cancel, NULL);
put:
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posix_trace_get_attr() - attributes of a stream
 * @trid: trace id
 * @attr: where to write them; need not be initialized
 *
 * The sizes are those that were granted, the stream-full-policy is the one in
 * effect. A log has those of the stream that wrote it.
 *
 * Return: 0; EINVAL if @trid is no trace stream or log of this process or @attr is
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
 * posix_trace_get_status() - status of a stream
 * @trid: trace id
 * @statusinfo: where to write it
 *
 * One consistent snapshot. The overrun statuses and the error of a flush are reset by
 * reading them; the overrun status of the stream is also set by records that this
 * process had to throw away because a traced process has damaged them.
 *
 * That of a log is not reset. It is suspended; both overrun statuses tell of what is
 * known to be missing, the one of the log also if the log is not complete (yet):
 * Documentation/trace-log.rst.
 *
 * Return: 0; EINVAL if @trid is no trace stream or log of this process or
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
