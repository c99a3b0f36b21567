// SPDX-License-Identifier: MIT
/*
 * Small extensions: a descriptor to poll, the reporting delay, statistics and limits.
 */
#include <fcntl.h>
#include <posixtrace.h>
#include <string.h>
#include <unistd.h>

#include "api/recorder.h"
#include "common/sys.h"
#include "stream/stream.h"
#include "stream/window.h"

/**
 * posixtrace_fd() - get a descriptor to poll for events
 * @trid: trace id
 *
 * An extension. The descriptor belongs to the stream: when the stream ends, it is closed and
 * its duplicates are hung up.
 *
 * Return: the descriptor; -1 with errno EINVAL if @trid is not an active trace stream
 * of this process.
 */
PXTU_API int posixtrace_fd(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	int fd;

	if (!stream) {
		errno = EINVAL;
		return -1;
	}
	fd = stream->fd;
	if (!pxtu_is_ours(fd, stream->number)) {
		errno = EINVAL;
		fd = -1;
	}
	pxtu_stream_put(stream);
	return fd;
}

/**
 * posixtrace_add_process() - trace another process into a stream
 * @trid: trace id of an active trace stream
 * @pid: the process
 *
 * An extension. The processes of a stream share one table of event types: names have the same type
 * in all of them.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process, or @pid is not
 * positive; ESRCH if there is no such process; EPERM if the caller may not trace it; EXDEV if it
 * cannot share the event types: it has opened names or is traced by another stream, or its
 * credentials differ; EALREADY if the stream already traces it; EAGAIN if this stream has kernel
 * events and was created without CAP_SYS_RESOURCE, and the process has four such streams; EBUSY if
 * another stream on it uses the slot of this stream; ENOTCONN if the last process of the stream has
 * ended; EINTR after a signal handler; ENOMEM.
 */
PXTU_API int posixtrace_add_process(trace_id_t trid, pid_t pid)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	__s32 nr = pid;
	int err;

	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_ADD, &nr);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posixtrace_rotate() - continue the log of a stream in another file
 * @trid: trace id of an active trace stream with log
 * @fd: the next file, of the same kind as the current one; empty or to be overwritten from its
 *	offset 0
 * @end_error: receives the error number with which the old log ended, or 0; may be NULL
 *
 * An extension. Flushes the stream, completes the old log, and begins a new one. Each of them can
 * be read without the other. Events that could not be written to the old file go to the new one.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream with log of this process, its log ends
 * when it is full, or @fd cannot be a log or is the current file; EBADF if @fd is not open for
 * writing; EXDEV if @fd is of another kind; EBUSY during another call, or during
 * posixtrace_snapshot() on the same stream; ENOMEM; or the error of writing to @fd, after which the
 * old log continues.
 */
PXTU_API int posixtrace_rotate(trace_id_t trid, int fd, int *end_error)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	struct posixtrace_rotate arg = { .log_fd = fd };
	int err, flags;

	if (!stream)
		return EINVAL;
	/*
	 * Check @fd here: an EBADF from the kernel may also be about the descriptor of the stream.
	 */
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
		pxtu_stream_put(stream);
		return EBADF;
	}
	err = pxtu_recorder_rotate(stream, &arg);
	pxtu_stream_put(stream);
	if (!err && end_error)
		*end_error = (int)arg.error;
	return pxtu_error(err);
}

/**
 * posixtrace_setwindow() - delay events until their order is known
 * @trid: trace id
 * @ns: report an event this many nanoseconds after its time; 0: immediately
 *
 * An extension. Applies to all threads that read the stream, including those that are waiting.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream without log of this process, or @ns is
 * more than 10 seconds.
 */
PXTU_API int posixtrace_setwindow(trace_id_t trid, uint64_t ns)
{
	struct pxtu_stream *stream;
	int err = -EINVAL;

	if (ns > POSIXTRACE_WINDOW_NS_MAX)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	if (stream->source.readable) {
		pthread_mutex_lock(stream->source.lock);
		err = pxtu_window_set(&stream->reader, ns);
		pthread_mutex_unlock(stream->source.lock);
	}
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posixtrace_get_stats() - get the statistics of a stream
 * @trid: trace id
 * @stats: result
 *
 * An extension. The counters are not a snapshot: events recorded during the call may or may not
 * be included.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process or @stats
 * is NULL.
 */
PXTU_API int posixtrace_get_stats(trace_id_t trid, struct posixtrace_stats_info *stats)
{
	struct posixtrace_stats kernel;
	struct pxtu_stream *stream;
	int err;

	if (!stats)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	/* With the lock, no event is taken between the kernel's counters and the reader's. */
	pthread_mutex_lock(stream->source.lock);
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_GET_STATS, &kernel);
	if (!err) {
		memset(stats, 0, sizeof(*stats));
		stats->recorded = kernel.recorded;
		stats->read = stream->reader.read;
		stats->dropped = kernel.dropped;
		stats->overwritten = kernel.overwritten;
		stats->skipped = stream->reader.skipped_user;
		stats->damaged = stream->reader.corrupt;
		stats->system_lost = kernel.overwritten_system + stream->reader.skipped -
				     stream->reader.skipped_user;
		stats->memory = kernel.memory;
		stats->processes = kernel.processes;
		stats->untraced = kernel.untraced;
	}
	pthread_mutex_unlock(stream->source.lock);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posixtrace_get_kernel_info() - get the statistics of a stream's kernel events
 * @trid: trace id
 * @info: result
 *
 * An extension. The counters are not a snapshot: events recorded during the call may or may not
 * be included.
 *
 * Return: 0, with zeros if the stream has no kernel events; EINVAL if @trid is not an active
 * trace stream of this process, or @info is NULL.
 */
PXTU_API int posixtrace_get_kernel_info(trace_id_t trid, struct posixtrace_kernel_info *info)
{
	struct posixtrace_kernel_stats stats;
	struct pxtu_stream *stream;
	int err;

	_Static_assert(POSIXTRACE_CLASSES == POSIXTRACE_CLASSES_MAX, "one number");
	if (!info)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_KERNEL_STATS, &stats);
	if (!err) {
		memset(info, 0, sizeof(*info));
		memcpy(info->recorded, stats.recorded, sizeof(info->recorded));
		memcpy(info->dropped, stats.dropped, sizeof(info->dropped));
		info->overwritten = stats.overwritten;
	}
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/* Classes that the loaded module can record; 0 without a module of this version. */
static long kernel_classes(void)
{
	struct posixtrace_info info = { .classes = 0 };
	int fd = pxtu_device_open();

	if (fd < 0)
		return 0;
	if (pxtu_ioctl(fd, POSIXTRACE_IOC_INFO, &info))
		info.classes = 0;
	pxtu_close_new(fd, 0);
	return (long)info.classes;
}

/**
 * posixtrace_sysconf() - get a limit or option of the system or of tracing
 * @name: _SC_* or POSIXTRACE_SC_*
 *
 * An extension. Calls sysconf() for names that do not concern tracing.
 *
 * Return: the value; -1 for a missing option (errno is unchanged), or if sysconf() returns it.
 */
PXTU_API long posixtrace_sysconf(int name)
{
	switch (name) {
	case _SC_TRACE:
		return _POSIX_TRACE;
	case _SC_TRACE_EVENT_FILTER:
		return _POSIX_TRACE_EVENT_FILTER;
	case _SC_TRACE_INHERIT:
		return _POSIX_TRACE_INHERIT;
	case _SC_TRACE_LOG:
		return _POSIX_TRACE_LOG;
	case _SC_TRACE_EVENT_NAME_MAX:
		return TRACE_EVENT_NAME_MAX;
	case _SC_TRACE_NAME_MAX:
		return TRACE_NAME_MAX;
	case _SC_TRACE_SYS_MAX:
		return TRACE_SYS_MAX;
	case _SC_TRACE_USER_EVENT_MAX:
		return TRACE_USER_EVENT_MAX;
	case POSIXTRACE_SC_STREAMS_PER_PROCESS_MAX:
		return POSIXTRACE_SLOTS_MAX;
	case POSIXTRACE_SC_KERNEL_CLASSES:
		return kernel_classes();
	default:
		return sysconf(name);
	}
}
