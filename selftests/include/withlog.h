/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams with log that are small enough to fill up soon. Flushes them, reads their logs with the
 * library, and compares these with the recorded events.
 */
#ifndef _SELFTESTS_WITHLOG_H
#define _SELFTESTS_WITHLOG_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/types.h>

#include "trace_test.h"

#define LOG_STREAM_SIZE	(64U << 10)
#define LOG_DATA_SIZE	64U

/* Policies and size of a log; size 0 is the default. */
struct log_kind {
	int stream_policy;
	int log_policy;
	size_t log_size;
};

/* An unnamed file in the directory of the tests, or a negative number. */
static inline int log_tmpfile(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* The thread that the library started for a log in this process, or 0. */
int log_worker(void);

/* Returns 0 or an error number. */
int withlog_new(pid_t pid, const struct log_kind *kind, int fd, trace_id_t *trid);

/* Creates a stream on the caller, and starts it. Returns 0 or an error number. */
int withlog_start(const struct log_kind *kind, int fd, trace_id_t *trid);

/* As withlog_start(), with a log that is compressed in this way. */
int withlog_start_compressed(const struct log_kind *kind, int compression, int fd,
			     trace_id_t *trid);

/* Starts a stream with this log-full-policy that children inherit. Returns 0 or an error number. */
int withlog_begin(pid_t pid, int fd, int policy, trace_id_t *trid);

/* The event type of the numbers. */
trace_event_id_t withlog_type(void);

/* Records @count numbers of 8 bytes, starting with @first. */
void withlog_record(int first, int count);

/* Waits until no flush is in progress. Returns 0, or the error of the flush. */
int withlog_wait(trace_id_t trid);

/* Flushes and waits. Returns 0 or an error number. */
int withlog_flush(trace_id_t trid);

/* The contents of a log with the numbers that one thread recorded, starting with 0. */
struct log_content {
	int err;		/* 0, or the error number of opening or reading it */
	int numbers;		/* how many */
	int first;		/* or -1 */
	int last;
	int holes;		/* places where numbers are missing between two others */
	int disorder;		/* numbers after a larger one */
	int errors;		/* POSIX_TRACE_ERROR */
	int gaps;		/* POSIX_TRACE_OVERFLOW */
	int starts;		/* POSIX_TRACE_START */
	int stops;		/* POSIX_TRACE_STOP */
	int stops_auto;		/* automatic POSIX_TRACE_STOP */
	int flush_starts;
	int flush_stops;
	trace_event_id_t last_id;
	struct posix_trace_status_info status;
};

/* Reads an open log to its end. */
void log_content_rest(trace_id_t trid, struct log_content *content);

/* Opens a log, reads it, and closes it. */
void log_content_fd(int fd, struct log_content *content);

/* True if the log has all numbers below @count in order, and reports no loss. */
bool log_content_is(const struct log_content *content, int count);

/*
 * Records @count numbers into a stream with a log of 32 KiB and this full policy, flushing after
 * every 200, and reads the log. Returns 0 or an error number.
 */
int withlog_fill(int log_policy, int count, int fd, struct log_content *content);

/* Opens an empty log. Returns 0 or an error number. */
int withlog_open_empty(trace_id_t *log);

/* Counts the events with that number as data. Returns minus an error number on failure. */
int log_has_number(int fd, int number);

/* Waits until the log contains that number, without calling posix_trace_flush(). */
void log_wait_number(int fd, int number);

/* The number of reading functions that accept an active stream with log. */
int withlog_readable(trace_id_t trid);

off_t log_file_size(int fd);

/* True if the file contains @text. */
bool log_file_has(int fd, const char *text);

#endif /* _SELFTESTS_WITHLOG_H */
