/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams with log: small enough to be filled soon, flushed, and their logs read with the
 * library and compared with the recorded events.
 */
#ifndef _SELFTESTS_WITHLOG_H
#define _SELFTESTS_WITHLOG_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "trace_test.h"

#define LOG_STREAM_SIZE	(64U << 10)
#define LOG_DATA_SIZE	64U

/* Policies and size of a log; the size 0 for the default. */
struct log_kind {
	int stream_policy;
	int log_policy;
	size_t log_size;
};

/* A file without a name in the directory of the tests, or a negative number. */
static inline int log_tmpfile(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static inline int withlog_attr(const struct log_kind *kind, trace_attr_t *attr)
{
	int err = posix_trace_attr_init(attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(attr, LOG_STREAM_SIZE);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(attr, LOG_DATA_SIZE);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(attr, kind->stream_policy);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, kind->log_policy);
	if (!err && kind->log_size)
		err = posix_trace_attr_setlogsize(attr, kind->log_size);
	if (!err)
		err = posix_trace_attr_setname(attr, "withlog");
	return err;
}

/* Returns 0 or an error number. */
static inline int withlog_new(pid_t pid, const struct log_kind *kind, int fd, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = withlog_attr(kind, &attr);

	return err ? err : posix_trace_create_withlog(pid, &attr, fd, trid);
}

/* The event type of the numbers. */
static inline trace_event_id_t withlog_type(void)
{
	static trace_event_id_t id;

	if (!id && posix_trace_eventid_open("number", &id))
		abort();
	return id;
}

/* Records @count numbers from @first on. */
static inline void withlog_record(int first, int count)
{
	trace_event_id_t id = withlog_type();

	for (int i = first; i < first + count; i++)
		posix_trace_event(id, &i, sizeof(i));
}

/* Waits until no flush is in progress. Returns 0, or its error. */
static inline int withlog_wait(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int err, error = 0;

	do {
		sched_yield();
		err = posix_trace_get_status(trid, &status);
		/* The error is reported once, maybe before the end. */
		if (!err && !error)
			error = status.posix_stream_flush_error;
	} while (!err && status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	return err ? err : error;
}

/* Flushes and waits. Returns 0 or an error number. */
static inline int withlog_flush(trace_id_t trid)
{
	int err = posix_trace_flush(trid);

	return err ? err : withlog_wait(trid);
}

/* The contents of a log with numbers that one thread recorded from 0 on. */
struct log_content {
	int err;		/* 0, or the error number of opening or reading it */
	int numbers;		/* how many */
	int first;		/* -1 if there is none */
	int last;
	int holes;		/* places where numbers are missing between two others */
	int disorder;		/* numbers that follow a larger one */
	int errors;		/* POSIX_TRACE_ERROR */
	int gaps;		/* POSIX_TRACE_OVERFLOW */
	int starts;		/* POSIX_TRACE_START */
	int stops;		/* POSIX_TRACE_STOP */
	int stops_auto;		/* automatic ones */
	int flush_starts;
	int flush_stops;
	trace_event_id_t last_id;
	struct posix_trace_status_info status;
};

static inline void log_content_add(struct log_content *content, const struct event *event)
{
	int number = event_number(event);

	content->last_id = event->info.posix_event_id;
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
		content->errors++;
		return;
	case POSIX_TRACE_OVERFLOW:
		content->gaps++;
		return;
	case POSIX_TRACE_START:
		content->starts++;
		return;
	case POSIX_TRACE_STOP:
		content->stops++;
		content->stops_auto += number != 0;
		return;
	case POSIX_TRACE_FLUSH_START:
		content->flush_starts++;
		return;
	case POSIX_TRACE_FLUSH_STOP:
		content->flush_stops++;
		return;
	}
	if (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		return;
	if (!content->numbers++)
		content->first = number;
	else if (number <= content->last)
		content->disorder++;
	else if (number != content->last + 1)
		content->holes++;
	content->last = number;
}

/* Reads an open log to its end. */
static inline void log_content_rest(trace_id_t trid, struct log_content *content)
{
	struct event event;

	*content = (struct log_content){ .first = -1, .last = -1 };
	for (;;) {
		content->err = posix_trace_getnext_event(trid, &event.info, event.data,
							 sizeof(event.data), &event.len,
							 &event.unavailable);
		if (content->err || event.unavailable)
			break;
		log_content_add(content, &event);
	}
	if (!content->err)
		content->err = posix_trace_get_status(trid, &content->status);
}

/* Opens a log, reads it, and closes it. */
static inline void log_content_fd(int fd, struct log_content *content)
{
	trace_id_t trid;
	int err;

	*content = (struct log_content){ .first = -1, .last = -1 };
	content->err = posix_trace_open(fd, &trid);
	if (content->err)
		return;
	log_content_rest(trid, content);
	err = posix_trace_close(trid);
	if (!content->err)
		content->err = err;
}

/* True if the log has all numbers from 0 to @count, in order, and reports no loss. */
static inline bool log_content_is(const struct log_content *content, int count)
{
	return !content->err && content->numbers == count && content->first == (count ? 0 : -1) &&
	       content->last == count - 1 && !content->holes && !content->disorder &&
	       !content->errors && !content->gaps;
}

/* The number of events with that number in their data, or minus an error number. */
static inline int log_has_number(int fd, int number)
{
	struct event event;
	int count = 0, err;
	trace_id_t trid;

	err = posix_trace_open(fd, &trid);
	if (err)
		return -err;
	for (;;) {
		err = posix_trace_getnext_event(trid, &event.info, event.data,
						sizeof(event.data), &event.len,
						&event.unavailable);
		if (err || event.unavailable)
			break;
		count += event.info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT &&
			 event_number(&event) == number;
	}
	posix_trace_close(trid);
	return err ? -err : count;
}

/* The number of functions that read the events of an active stream with log. */
static inline int withlog_readable(trace_id_t trid)
{
	const struct timespec epoch = { 0, 0 };
	struct event e;
	int count = 0;

	count += posix_trace_getnext_event(trid, &e.info, e.data, sizeof(e.data), &e.len,
					   &e.unavailable) != EINVAL;
	count += posix_trace_trygetnext_event(trid, &e.info, e.data, sizeof(e.data), &e.len,
					      &e.unavailable) != EINVAL;
	count += posix_trace_timedgetnext_event(trid, &e.info, e.data, sizeof(e.data), &e.len,
						&e.unavailable, &epoch) != EINVAL;
	return count;
}

static inline off_t log_file_size(int fd)
{
	struct stat stat;

	return fstat(fd, &stat) ? -1 : stat.st_size;
}

#endif /* _SELFTESTS_WITHLOG_H */
