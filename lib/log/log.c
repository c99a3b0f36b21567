// SPDX-License-Identifier: MIT
/*
 * The life of a log that is open for reading, and what the functions that streams
 * and logs have in common do with a log. What is in it is read elsewhere: log.h.
 */
#include <fcntl.h>
#include <posixtrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr/attr.h"
#include "common/trid.h"
#include "log/log.h"

/* Is it open for reading, and of a file that can be read anywhere? */
static int check_descriptor(int fd, struct pxtu_log *log)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat64 stat;

	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	if (fstat64(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL;
	log->dev = stat.st_dev;
	log->ino = stat.st_ino;
	return 0;
}

/* The program may have closed our descriptor, and have another file under its number. */
static void close_ours(const struct pxtu_log *log)
{
	struct stat64 stat;

	if (!fstat64(log->fd, &stat) && stat.st_dev == log->dev && stat.st_ino == log->ino)
		pxtu_close(log->fd);
}

static void free_log(struct pxtu_log *log)
{
	pxtu_window_destroy(log);
	free(log->facts.names);
	free(log->data);
	free(log->scratch);
	free(log);
}

static int start_window(struct pxtu_log *log)
{
	pxtu_window_start(log);
	return pxtu_log_failed(log);
}

static int read_log(struct pxtu_log *log)
{
	int err = pxtu_log_head_read(log);

	if (err)
		return err;
	log->scratch = malloc(PXTU_LOG_SCRATCH);
	log->data = malloc(pxtu_record_room(log->head.max_data));
	if (!log->scratch || !log->data)
		return -ENOMEM;
	err = pxtu_window_init(log);
	if (err)
		return err;
	pxtu_log_walk_start(log, &log->facts.start);
	log->facts.walk = log->facts.start;
	err = pxtu_log_failed(log);
	if (!err)
		err = pxtu_log_survey(log);
	return err ? err : start_window(log);
}

static int open_log(int fd, trace_id_t *trid)
{
	struct pxtu_stream *stream;
	struct pxtu_log *log;
	int err;

	stream = calloc(1, sizeof(*stream));
	log = calloc(1, sizeof(*log));
	err = -ENOMEM;
	if (!stream || !log)
		goto free;
	err = check_descriptor(fd, log);
	if (err)
		goto free;
	/* Above those of the standard streams, and it may be closed by the program. */
	log->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	err = -errno;
	if (log->fd < 0)
		goto free;
	err = read_log(log);
	if (err)
		goto close_fd;

	stream->log = log;
	stream->fd = -1;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->idle, NULL);
	err = pxtu_trid_install(stream, trid);
	if (!err)
		return 0;
	pthread_cond_destroy(&stream->idle);
	pthread_mutex_destroy(&stream->lock);
close_fd:
	close_ours(log);
free:
	if (log)
		free_log(log);
	free(stream);
	return err;
}

/**
 * posix_trace_open() - open a log for reading
 * @file_desc: descriptor of the log, open for reading. It is copied, and can be
 *	closed; its file offset is neither used nor changed
 * @trid: where to write the trace id, which is valid in this process only
 *
 * The log may be cut or damaged behind its header, and may still be written. The
 * headers of all its blocks are read, and no events yet. Needs no module. Not a
 * cancellation point.
 *
 * Return: 0; EBADF if @file_desc is not open for reading; EINVAL if @trid is NULL or
 * the file is no log: of another kind, empty, cut or damaged in its header, of a
 * machine with another byte order or of a later version; ENOMEM; EAGAIN if there are
 * too many trace ids. EMFILE if there are no more descriptors, and what reading says.
 */
PXTU_API int posix_trace_open(int file_desc, trace_id_t *trid)
{
	int err, saved_errno = errno;

	if (!trid)
		return EINVAL;
	err = open_log(file_desc, trid);
	errno = saved_errno;
	/* Here it is the caller's descriptor that is bad. */
	return err == -EBADF ? EBADF : pxtu_error(err);
}

/**
 * posix_trace_close() - end the reading of a log
 * @trid: trace id of the log
 *
 * Waits for calls in other threads that use it. Not a cancellation point.
 *
 * Return: 0; EINVAL if @trid is not that of a log of this process.
 */
PXTU_API int posix_trace_close(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_trid_remove_log(trid);
	int cancel, saved_errno = errno;

	if (!stream)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pxtu_trid_drain(stream);
	close_ours(stream->log);
	free_log(stream->log);
	pthread_cond_destroy(&stream->idle);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return 0;
}

/* Use of a log under its lock. */
static struct pxtu_stream *lock_log(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_trid_get_log(trid);

	if (stream)
		pthread_mutex_lock(&stream->lock);
	return stream;
}

static void unlock_log(struct pxtu_stream *stream)
{
	pthread_mutex_unlock(&stream->lock);
	pxtu_trid_put(stream);
}

/**
 * posix_trace_rewind() - back to the oldest event of a log
 * @trid: trace id of the log
 *
 * Return: 0; EINVAL if @trid is not that of a log of this process; ENOMEM.
 */
PXTU_API int posix_trace_rewind(trace_id_t trid)
{
	struct pxtu_stream *stream = lock_log(trid);
	int err;

	if (!stream)
		return EINVAL;
	/* Maybe what was the oldest is not there any more. */
	err = pxtu_log_survey(stream->log);
	if (!err)
		err = start_window(stream->log);
	unlock_log(stream);
	return pxtu_error(err);
}

int pxtu_log_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct pxtu_stream *stream = pxtu_trid_get_log(trid);

	if (!stream)
		return EINVAL;
	pxtu_attr_from_uapi(attr, &stream->log->head.attr);
	pxtu_trid_put(stream);
	return 0;
}

int pxtu_log_get_status(trace_id_t trid, struct posix_trace_status_info *info)
{
	struct pxtu_stream *stream = lock_log(trid);
	int err;

	if (!stream)
		return EINVAL;
	err = pxtu_log_survey(stream->log);
	if (!err)
		pxtu_log_status(stream->log, info);
	unlock_log(stream);
	return pxtu_error(err);
}

int pxtu_log_get_name(trace_id_t trid, trace_event_id_t event, char *event_name)
{
	struct pxtu_stream *stream = lock_log(trid);
	const char *name;
	int err = 0;

	if (!stream)
		return EINVAL;
	name = pxtu_log_name(stream->log, event);
	if (!name) {
		/* It may have come since. */
		err = pxtu_log_survey(stream->log);
		name = pxtu_log_name(stream->log, event);
	}
	if (name)
		strcpy(event_name, name);
	else if (!err)
		err = -EINVAL;
	unlock_log(stream);
	return name ? 0 : pxtu_error(err);
}

/**
 * posixtrace_get_log_info() - what there is in a log, and what not
 * @trid: trace id of the log
 * @info: where to write it
 *
 * An extension. Looks for what has been appended, as posix_trace_get_status() does.
 *
 * Return: 0; EINVAL if @trid is not that of a log of this process or @info is NULL;
 * ENOMEM.
 */
PXTU_API int posixtrace_get_log_info(trace_id_t trid, struct posixtrace_log_info *info)
{
	struct pxtu_stream *stream;
	const struct pxtu_log_facts *facts;
	int err;

	if (!info)
		return EINVAL;
	stream = lock_log(trid);
	if (!stream)
		return EINVAL;
	facts = &stream->log->facts;
	err = pxtu_log_survey(stream->log);
	if (!err) {
		memset(info, 0, sizeof(*info));
		/* How long it is now. */
		pxtu_log_reaches(stream->log, INT64_MAX);
		info->size = stream->log->size;
		info->read = stream->log->window.read;
		if (info->read > info->size)
			info->read = info->size;
		info->lost = stream->log->window.lost;
		if (facts->end_valid && facts->end.lost > info->lost)
			info->lost = facts->end.lost;
		if (facts->end_valid)
			info->overwritten = facts->end.overwritten;
		if (facts->end_valid && facts->end.flags & POSIXTRACE_LOG_END_FINAL)
			info->flags |= POSIXTRACE_LOG_ENDED;
		if (facts->damaged)
			info->flags |= POSIXTRACE_LOG_DAMAGED;
	}
	unlock_log(stream);
	return pxtu_error(err);
}

bool pxtu_log_has(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_trid_get_log(trid);

	if (stream)
		pxtu_trid_put(stream);
	return stream;
}

int pxtu_log_typelist_next(trace_id_t trid, trace_event_id_t *event, int *unavailable)
{
	struct pxtu_stream *stream = lock_log(trid);
	int err = 0;
	__u32 id;

	if (!stream)
		return EINVAL;
	id = pxtu_log_type(stream->log, stream->types_next);
	if (!id) {
		err = pxtu_log_survey(stream->log);
		id = pxtu_log_type(stream->log, stream->types_next);
	}
	if (!err)
		*unavailable = !id;
	if (!err && id) {
		*event = id;
		stream->types_next++;
	}
	unlock_log(stream);
	return pxtu_error(err);
}

int pxtu_log_typelist_rewind(trace_id_t trid)
{
	struct pxtu_stream *stream = lock_log(trid);

	if (!stream)
		return EINVAL;
	stream->types_next = 0;
	unlock_log(stream);
	return 0;
}
