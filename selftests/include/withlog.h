/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creates streams with log that are so small that they soon become full, flushes them, reads their
 * logs with the library, and compares the contents with the recorded events.
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

/* Returns the id of the thread that the library started in this process to write a log, or 0. */
int log_worker(void);

/* Initializes the attributes of a stream with log. Returns 0 or an error number. */
int withlog_attr(const struct log_kind *kind, trace_attr_t *attr);

/*
 * As posix_trace_create_withlog(), but waits while the kernel threads of the user's earlier logs
 * have used up too much processor time. The user must not have too many streams.
 */
int withlog_create_patiently(pid_t pid, const trace_attr_t *attr, int fd, trace_id_t *trid);

/* Creates a stream with log. Returns 0 or an error number. */
int withlog_new(pid_t pid, const struct log_kind *kind, int fd, trace_id_t *trid);

/* Creates a stream on the caller, and starts it. Returns 0 or an error number. */
int withlog_start(const struct log_kind *kind, int fd, trace_id_t *trid);

/* Like withlog_start(), with the given compression of the log. */
int withlog_start_compressed(const struct log_kind *kind, int compression, int fd,
			     trace_id_t *trid);

/*
 * Creates and starts a stream with the given log-full-policy. Children inherit the stream. Returns
 * 0 or an error number.
 */
int withlog_begin(pid_t pid, int fd, int policy, trace_id_t *trid);

/* Returns the event type with which numbers are recorded. */
trace_event_id_t withlog_type(void);

/* Records @count numbers of 8 bytes, starting with @first. */
void withlog_record(int first, int count);

/* Waits until no flush is in progress. Returns 0, or the error of the flush. */
int withlog_wait(trace_id_t trid);

/* Flushes and waits. Returns 0 or an error number. */
int withlog_flush(trace_id_t trid);

/* The contents of a log in which one thread has recorded numbers, starting with 0. */
struct log_content {
	int err;		/* 0, or the error number of opening or reading it */
	int numbers;		/* how many numbers there are */
	int first;		/* the first number, or -1 */
	int last;
	int holes;		/* how often numbers are missing between two others */
	int disorder;		/* how many numbers follow a larger one */
	int errors;		/* number of POSIX_TRACE_ERROR */
	int gaps;		/* number of POSIX_TRACE_OVERFLOW */
	int starts;		/* number of POSIX_TRACE_START */
	int stops;		/* number of POSIX_TRACE_STOP */
	int stops_auto;		/* how many of @stops are automatic */
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
 * Records @count numbers into a stream whose log has 32 KiB and the given full policy. Flushes
 * after every 200 numbers, and then reads the log. Returns 0 or an error number.
 */
int withlog_fill(int log_policy, int count, int fd, struct log_content *content);

/* Opens an empty log. Returns 0 or an error number. */
int withlog_open_empty(trace_id_t *log);

/* Counts the events with the number @number. Returns minus an error number on failure. */
int log_has_number(int fd, int number);

/* Waits until the log contains that number, without calling posix_trace_flush(). */
void log_wait_number(int fd, int number);

/* Returns how many of the reading functions accept an active stream with log. */
int withlog_readable(trace_id_t trid);

off_t log_file_size(int fd);

/* True if the file contains @text. */
bool log_file_has(int fd, const char *text);

#endif /* _SELFTESTS_WITHLOG_H */
