// SPDX-License-Identifier: MIT
/*
 * Functions for logs only: open, close, rewind, and information about a log.
 */
#include <limits.h>
#include <posixtrace.h>
#include <string.h>

#include "common/sys.h"
#include "common/trid.h"
#include "log/log.h"
#include "log/loghead.h"
#include "log/logsurvey.h"

/**
 * posix_trace_open() - open a log for reading
 * @file_desc: descriptor of the log, open for reading. The library duplicates it, so the
 *	program can close it; its file offset is neither used nor changed
 * @trid: where to write the trace id, which is valid in this process only
 *
 * The log may be cut or damaged after its header, and its writer may still append to it. Reads
 * the index at the end of a complete log, otherwise the headers of all blocks, but no events yet.
 * Does not need the module. Not a cancellation point.
 *
 * Return: 0; EBADF if @file_desc is not open for reading; EINVAL if @trid is NULL or
 * the file is not a log: another kind of file, empty, cut or damaged in its header, from a
 * machine with another byte order or of another version; ENOTSUP if only a later version
 * of the library can read it; ENOMEM; EAGAIN if there are too many trace ids; EMFILE if no
 * descriptors are left; any read error.
 */
PXTU_API int posix_trace_open(int file_desc, trace_id_t *trid)
{
	int err, saved_errno = errno;
	struct pxtu_log *log;

	if (!trid)
		return EINVAL;
	err = pxtu_log_open(file_desc, &log);
	if (!err) {
		err = pxtu_trid_install(&log->source, trid);
		if (err)
			pxtu_log_close(log);
	}
	errno = saved_errno;
	/* pxtu_error() takes EBADF for an error of our descriptor, but this one is the caller's. */
	return err == -EBADF ? EBADF : pxtu_error(err);
}

/**
 * posix_trace_close() - close a log
 * @trid: trace id of the log
 *
 * Waits for calls of other threads on this log to return. Not a cancellation point.
 *
 * Return: 0; EINVAL if @trid is not a log of this process.
 */
PXTU_API int posix_trace_close(trace_id_t trid)
{
	struct pxtu_source *source = pxtu_trid_remove(trid, &pxtu_log_ops);
	int cancel, saved_errno = errno;

	if (!source)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (pxtu_trid_drain(source))
		pxtu_log_close(pxtu_log_of(source));
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return 0;
}

/* Look up a log, and lock it. */
static struct pxtu_log *lock_log(trace_id_t trid)
{
	struct pxtu_source *source = pxtu_trid_get(trid, &pxtu_log_ops);

	if (!source)
		return NULL;
	pthread_mutex_lock(source->lock);
	return pxtu_log_of(source);
}

static void unlock_log(struct pxtu_log *log)
{
	pthread_mutex_unlock(log->source.lock);
	pxtu_trid_put(&log->source);
}

/**
 * posix_trace_rewind() - go back to the oldest event of a log
 * @trid: trace id of the log
 *
 * Return: 0; EINVAL if @trid is not a log of this process; ENOMEM.
 */
PXTU_API int posix_trace_rewind(trace_id_t trid)
{
	struct pxtu_log *log = lock_log(trid);
	int err;

	if (!log)
		return EINVAL;
	err = pxtu_log_rewind(log);
	unlock_log(log);
	return pxtu_error(err);
}

/**
 * posixtrace_seek() - go to a time in a log
 * @trid: trace id of the log
 * @time: the time
 *
 * An extension. The next event is the first one at or after @time, or an earlier one, because
 * events are only skipped where that is possible without reading them. Until
 * posix_trace_rewind(), the status of the log reports only damage in the part that was read.
 *
 * Return: 0; EINVAL if @trid is not a log of this process or @time is NULL or not valid; ENOMEM.
 */
PXTU_API int posixtrace_seek(trace_id_t trid, const struct timespec *time)
{
	const long nsec_max = PXTU_NSEC_PER_SEC - 1;
	struct pxtu_log *log;
	__u64 ns;
	int err;

	if (!time || time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec > nsec_max)
		return EINVAL;
	if (__builtin_mul_overflow((__u64)time->tv_sec, PXTU_NSEC_PER_SEC, &ns) ||
	    __builtin_add_overflow(ns, (__u64)time->tv_nsec, &ns))
		ns = ~0ULL;
	log = lock_log(trid);
	if (!log)
		return EINVAL;
	err = pxtu_log_seek(log, ns);
	unlock_log(log);
	return pxtu_error(err);
}

/* Until it is complete, the first log of a series does not know that other logs follow. */
static void fill_series(const struct pxtu_log *log, struct posixtrace_log_info *info)
{
	const struct pxtu_log_survey *survey = &log->survey;
	const struct pxtu_log_head *head = &log->head;

	if (survey->end_valid && survey->end.flags & POSIXTRACE_LOG_END_CONTINUED)
		info->flags |= POSIXTRACE_LOG_CONTINUED;
	if (head->part) {
		info->part = head->part < UINT_MAX ? (unsigned int)head->part : UINT_MAX;
		info->series = head->series;
	} else if (info->flags & POSIXTRACE_LOG_CONTINUED) {
		info->part = 1;
		info->series = head->cookie;
	}
}

/**
 * posixtrace_get_log_info() - get the contents and losses of a log
 * @trid: trace id of the log
 * @info: result
 *
 * An extension. Includes blocks that were appended after posix_trace_open(), like
 * posix_trace_get_status().
 *
 * Return: 0; EINVAL if @trid is not a log of this process or @info is NULL;
 * ENOMEM.
 */
PXTU_API int posixtrace_get_log_info(trace_id_t trid, struct posixtrace_log_info *info)
{
	struct pxtu_log *log;
	const struct pxtu_log_survey *survey;
	int err;

	if (!info)
		return EINVAL;
	log = lock_log(trid);
	if (!log)
		return EINVAL;
	survey = &log->survey;
	err = pxtu_log_survey(log);
	if (!err) {
		memset(info, 0, sizeof(*info));
		/* Update the size of the file. */
		pxtu_log_reaches(log, INT64_MAX);
		info->size = log->size;
		info->read = log->index.read;
		if (info->read > info->size)
			info->read = info->size;
		info->lost = log->index.lost;
		if (survey->end_valid && survey->end.lost > info->lost)
			info->lost = survey->end.lost;
		if (survey->end_valid)
			info->overwritten = survey->end.overwritten;
		if (survey->end_valid && survey->end.flags & POSIXTRACE_LOG_END_FINAL)
			info->flags |= POSIXTRACE_LOG_ENDED;
		if (survey->damaged)
			info->flags |= POSIXTRACE_LOG_DAMAGED;
		fill_series(log, info);
	}
	unlock_log(log);
	return pxtu_error(err);
}
