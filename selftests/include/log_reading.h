/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading logs in tests with the public functions.
 */
#ifndef _SELFTESTS_LOG_READING_H
#define _SELFTESTS_LOG_READING_H

#include "log_writer.h"
#include "trace_test.h"

/* Reads the next event of a log. Returns 1, 0 if there is none, or minus an error number. */
static inline int log_take(trace_id_t trid, struct event *event)
{
	int err = posix_trace_getnext_event(trid, &event->info, event->data,
					    sizeof(event->data), &event->len,
					    &event->unavailable);

	return err ? -err : !event->unavailable;
}

/* Its type, 0 if there is none, or minus an error number. */
static inline int log_take_id(trace_id_t trid, struct event *event)
{
	int ret = log_take(trid, event);

	return ret == 1 ? (int)event->info.posix_event_id : ret;
}

/* The time of an event as passed to log_event(). */
static inline __u64 log_time(const struct event *event)
{
	return event_time(event) - LOG_TIME0;
}

/* The contents of a whole log. */
struct log_sum {
	int err;		/* 0, or the error number of opening or reading it */
	unsigned int events;	/* user events */
	unsigned int errors;	/* POSIX_TRACE_ERROR */
	unsigned int gaps;	/* POSIX_TRACE_OVERFLOW */
	unsigned int others;	/* other system events */
	unsigned int disorder;	/* user events that are older than the previous one */
	unsigned int wrong;	/* user events with other data than log_event() wrote */
	__u64 first;		/* time of the first user event */
	__u64 last;		/* of the last */
	__u64 sum;		/* of all their times */
	struct posix_trace_status_info status;
};

static inline void log_count(struct log_sum *sum, const struct event *event)
{
	__u64 time = log_time(event), data = 0;

	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
		sum->errors++;
		return;
	case POSIX_TRACE_OVERFLOW:
		sum->gaps++;
		return;
	}
	if (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT) {
		sum->others++;
		return;
	}
	memcpy(&data, event->data, event->len < sizeof(data) ? event->len : sizeof(data));
	sum->wrong += data != time || event->info.posix_pid != 4711;
	if (!sum->events++)
		sum->first = time;
	else if (time < sum->last)
		sum->disorder++;
	sum->last = time;
	sum->sum += time;
}

/* Reads from the current position to the end. */
static inline void log_sum_rest(trace_id_t trid, struct log_sum *sum)
{
	struct event event;
	int ret;

	memset(sum, 0, sizeof(*sum));
	while ((ret = log_take(trid, &event)) == 1)
		log_count(sum, &event);
	sum->err = -ret;
	if (!sum->err)
		sum->err = posix_trace_get_status(trid, &sum->status);
}

/* Opens a log, reads it, and closes it. */
static inline void log_sum_fd(int fd, struct log_sum *sum)
{
	trace_id_t trid;
	int err;

	memset(sum, 0, sizeof(*sum));
	sum->err = posix_trace_open(fd, &trid);
	if (sum->err)
		return;
	log_sum_rest(trid, sum);
	err = posix_trace_close(trid);
	if (!sum->err)
		sum->err = err;
}

static inline void log_sum_bytes(const void *data, size_t len, struct log_sum *sum)
{
	int fd = log_bytes_file(data, len);

	log_sum_fd(fd, sum);
	close(fd);
}

static inline void log_sum_log(const struct log_writer *log, struct log_sum *sum)
{
	log_sum_bytes(log->data, log->len, sum);
}

/* Opens the written log, and closes the descriptor, which is not needed any more. */
static inline int log_open(const struct log_writer *log, trace_id_t *trid)
{
	int fd = log_file(log), err;

	err = posix_trace_open(fd, trid);
	close(fd);
	return err;
}

#endif /* _SELFTESTS_LOG_READING_H */
