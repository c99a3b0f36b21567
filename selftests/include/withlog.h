/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams with log: small enough to be filled soon, flushed, and their logs read with the
 * library and compared with the recorded events.
 */
#ifndef _SELFTESTS_WITHLOG_H
#define _SELFTESTS_WITHLOG_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/types.h>

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

/* The thread of this process that the library started for a log; 0 if there is none. */
int log_worker(void);

/* Returns 0 or an error number. */
int withlog_new(pid_t pid, const struct log_kind *kind, int fd, trace_id_t *trid);

/*
 * A stream with this log-full-policy, which children inherit, and which is running. Returns 0 or an
 * error number.
 */
int withlog_begin(pid_t pid, int fd, int policy, trace_id_t *trid);

/* The event type of the numbers. */
trace_event_id_t withlog_type(void);

/* Records @count numbers of 8 bytes from @first on. */
void withlog_record(int first, int count);

/* Waits until no flush is in progress. Returns 0, or its error. */
int withlog_wait(trace_id_t trid);

/* Flushes and waits. Returns 0 or an error number. */
int withlog_flush(trace_id_t trid);

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

/* Reads an open log to its end. */
void log_content_rest(trace_id_t trid, struct log_content *content);

/* Opens a log, reads it, and closes it. */
void log_content_fd(int fd, struct log_content *content);

/* True if the log has all numbers from 0 to @count, in order, and reports no loss. */
bool log_content_is(const struct log_content *content, int count);

/* The number of events with that number in their data, or minus an error number. */
int log_has_number(int fd, int number);

/* The number of functions that read the events of an active stream with log. */
int withlog_readable(trace_id_t trid);

off_t log_file_size(int fd);

/* Has the file these characters anywhere? */
bool log_file_has(int fd, const char *text);

#endif /* _SELFTESTS_WITHLOG_H */
