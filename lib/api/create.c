// SPDX-License-Identifier: MIT
/*
 * Creates active trace streams and shuts them down. control.c has the commands in between.
 */
#include <fcntl.h>

#include "attr/attr.h"
#include "common/host.h"
#include "common/sys.h"
#include "record/attach.h"
#include "stream/open.h"
#include "stream/stream.h"
#include "stream/worker.h"

static int make_stream(pid_t pid, const trace_attr_t *attr, int log_fd, trace_id_t *trid)
{
	struct posixtrace_create create = { .pid = pid, .log_fd = log_fd };
	struct pxtu_state *state = pxtu_state();
	struct pxtu_stream *stream;
	int err;

	if (!state)
		return -ENOMEM;
	stream = pxtu_stream_alloc(log_fd >= 0);
	if (!stream)
		return -ENOMEM;
	err = pxtu_device_open();
	if (err < 0)
		goto dealloc;
	stream->fd = err;
	pxtu_attach_retry(state);

	pxtu_attr_to_uapi(attr, log_fd >= 0, &create.attr);
	if (log_fd >= 0)
		pxtu_boot_id(create.boot_id);
	err = pxtu_stream_create(stream, &create);
	if (err < 0)
		goto dealloc;
	err = pxtu_trid_install(&stream->source, trid);
	if (err < 0)
		goto destroy;
	if (log_fd >= 0)
		pxtu_stream_start_worker(stream);
	return 0;

destroy:
	pxtu_stream_destroy(stream);
dealloc:
	pxtu_stream_dealloc(stream);
	return err;
}

/**
 * posix_trace_create() - create an active trace stream without log
 * @pid: process to trace, 0 for the caller
 * @attr: attributes, copied; NULL for the defaults
 * @trid: where to write the trace id, which is valid in this process only
 *
 * The stream is suspended and has an empty filter. It is shut down when this process exits or
 * execs, or when the process closes our descriptor, as daemons do. After that, the trace id is no
 * longer valid.
 *
 * Return: 0; EAGAIN if there are TRACE_SYS_MAX streams, 31 on this process, four with kernel events
 * on it and this process lacks CAP_SYS_RESOURCE, or as many as this user may have; EINTR if
 * interrupted by a signal, before creating a stream; EINVAL if @attr is not initialized, has the
 * stream-full-policy POSIX_TRACE_FLUSH, which needs a log, or wakes readers at more bytes than the
 * stream has, or if @trid is NULL; ENODEV without the module; ENOMEM, also beyond RLIMIT_MEMLOCK;
 * ENOTSUP if the module does not support @attr or has another version; EPERM if the caller may not
 * trace that process or may not open the device; ESRCH if there is no such process; EMFILE and
 * ENFILE if no descriptors are left.
 */
PXTU_API int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr,
				trace_id_t *restrict trid)
{
	int err, saved_errno = errno;
	trace_attr_t defaults;

	if (!trid)
		return EINVAL;
	if (!attr) {
		pxtu_attr_init(&defaults);
		attr = &defaults;
	}
	if (!pxtu_attr_valid(attr) || attr->__stream_policy == POSIX_TRACE_FLUSH)
		return EINVAL;
	err = make_stream(pid, attr, -1, trid);
	errno = saved_errno;
	return pxtu_error(err);
}

/**
 * posix_trace_create_withlog() - create an active trace stream with log
 * @pid: process to trace, 0 for the caller
 * @attr: attributes, copied; NULL for the defaults
 * @file_desc: descriptor of the log, open for writing: a regular file, without O_APPEND
 *	for the log-full-policy POSIX_TRACE_LOOP; or, for POSIX_TRACE_APPEND, a
 *	pipe, a FIFO, a stream socket (TCP, vsock) or a device that the kernel can write
 *	to. The program can close it afterwards; its file offset is neither used nor changed
 * @trid: where to write the trace id, which is valid in this process only
 *
 * Like posix_trace_create(), but the module writes all recorded events into the log: at each
 * flush, when the stream is shut down, and when this process ends for any reason. The default
 * stream-full-policy is POSIX_TRACE_FLUSH. The events can only be read from the log. A thread of
 * this process writes the log, see stream/worker.c. If this function fails, the file may contain
 * part of the beginning of a log.
 *
 * Return: as posix_trace_create(); EBADF if @file_desc is not open for writing; EINVAL
 * if this kind of file cannot be a log; EINTR also if a signal arrived while a pipe was full;
 * EAGAIN also while the kernel threads of the user's logs have exceeded their processor time;
 * EFBIG, ENOSPC and any other write error if not even the header fits.
 */
PXTU_API int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr,
					int file_desc, trace_id_t *restrict trid)
{
	int err, saved_errno = errno;
	trace_attr_t defaults;

	if (!trid)
		return EINVAL;
	if (!attr) {
		pxtu_attr_init(&defaults);
		attr = &defaults;
	}
	if (!pxtu_attr_valid(attr))
		return EINVAL;
	/* Check file_desc first: if it is closed, a descriptor of ours could get its number. */
	err = fcntl(file_desc, F_GETFL) < 0 ? -EBADF : make_stream(pid, attr, file_desc, trid);
	errno = saved_errno;
	/* pxtu_error() takes EBADF for an error of our descriptor, but this one is the caller's. */
	return err == -EBADF ? EBADF : pxtu_error(err);
}

/**
 * posix_trace_shutdown() - stop a stream and free it
 * @trid: trace id
 *
 * If the stream has a log, all recorded events are in it when this returns; if this fails,
 * calling it again does not help. Without a log, unread events are lost. Threads that are
 * blocked in posix_trace_getnext_event() or posix_trace_timedgetnext_event() on this stream
 * return EINVAL; this function returns when they and all other calls have returned.
 *
 * If the program has closed the descriptor of the stream, the stream is already shut down. This
 * function then only frees the library's memory, and returns EINVAL. It does not close the number
 * of the descriptor, which may belong to another file by now.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process; EFBIG, ENOSPC and
 * any other write error if the log is incomplete; the stream is freed in that case as well.
 */
PXTU_API int posix_trace_shutdown(trace_id_t trid)
{
	struct pxtu_source *source = pxtu_trid_remove(trid, &pxtu_stream_ops);
	struct pxtu_stream *stream;
	int err, cancel;
	bool dead;

	if (!source)
		return EINVAL;
	stream = pxtu_stream_of(source);
	/* If the stream is dead, another file may answer SHUTDOWN: ignore its result. */
	dead = pxtu_stream_dead(stream);
	/* The trace id is gone, so a cancellation of this thread would leak the stream. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_SHUTDOWN, NULL);
	/*
	 * In a child that a signal handler forked, leave the stream alone: its addresses may belong
	 * to other mappings.
	 */
	if (pxtu_trid_drain(source)) {
		pxtu_stream_destroy(stream);
		pxtu_stream_dealloc(stream);
	}
	pthread_setcancelstate(cancel, NULL);
	return dead ? EINVAL : pxtu_error(err);
}
