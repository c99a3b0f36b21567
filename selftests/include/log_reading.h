/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads logs with the public functions.
 */
#ifndef _SELFTESTS_LOG_READING_H
#define _SELFTESTS_LOG_READING_H

#include "log_writer.h"
#include "trace_test.h"

/* Reads the next event of a log. Returns 1, 0 at the end, or minus an error number. */
int log_take(trace_id_t trid, struct event *event);

/* Returns the type of the next event, 0 at the end, or minus an error number. */
int log_take_id(trace_id_t trid, struct event *event);

/* Returns the time of an event as passed to log_event(). */
static inline __u64 log_time(const struct event *event)
{
	return event_time(event) - LOG_TIME0;
}

/* Summary of a complete log. */
struct log_sum {
	int err;		/* 0, or the error number of opening or reading it */
	unsigned int events;	/* user events */
	unsigned int errors;	/* number of POSIX_TRACE_ERROR */
	unsigned int gaps;	/* number of POSIX_TRACE_OVERFLOW */
	unsigned int others;	/* other system events */
	unsigned int disorder;	/* number of user events that are older than the previous one */
	unsigned int wrong;	/* number of user events with data that log_event() did not write */
	__u64 first;		/* time of the first user event */
	__u64 last;		/* time of the last user event */
	__u64 sum;		/* sum of their times */
	struct posix_trace_status_info status;
};

void log_count(struct log_sum *sum, const struct event *event);

/* Reads from the current position to the end. */
void log_sum_rest(trace_id_t trid, struct log_sum *sum);

/* Opens a log, reads it, and closes it. */
void log_sum_fd(int fd, struct log_sum *sum);

void log_sum_bytes(const void *data, size_t len, struct log_sum *sum);
void log_sum_log(const struct log_writer *log, struct log_sum *sum);

/* Writes and opens a log of @events user events with the times 0, 1, 2 ... */
int log_open_events(int events, trace_id_t *trid);

/* Opens a log that was written with @log. Closes the descriptor, which is no longer needed. */
int log_open(const struct log_writer *log, trace_id_t *trid);

#endif /* _SELFTESTS_LOG_READING_H */
