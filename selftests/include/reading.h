/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for tests that read streams: the three reading functions, threads that wait in them, and
 * events to read.
 */
#ifndef _SELFTESTS_READING_H
#define _SELFTESTS_READING_H

#include <pthread.h>
#include <stdbool.h>

#include "trace_test.h"

static inline void record_number(int number)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
}

/*
 * The main function of a child: reports that it runs, then records each number that the parent
 * sends.
 */
int record_on_request(void *arg, const struct talk *talk);

/* Reads the next event, with @size bytes of space for its data. */
static inline int read_next(trace_id_t trid, struct event *event, size_t room)
{
	return posix_trace_getnext_event(trid, &event->info, event->data, room, &event->len,
					 &event->unavailable);
}

static inline int read_timed(trace_id_t trid, struct event *event, size_t room,
			     const struct timespec *abstime)
{
	return posix_trace_timedgetnext_event(trid, &event->info, event->data, room, &event->len,
					      &event->unavailable, abstime);
}

static inline int read_try(trace_id_t trid, struct event *event, size_t room)
{
	return posix_trace_trygetnext_event(trid, &event->info, event->data, room, &event->len,
					    &event->unavailable);
}

/* A thread that reads one event, with or without a deadline. */
struct reader {
	trace_id_t trid;
	const struct timespec *abstime;
	pthread_t thread;
	struct event event;
	int ret;
	int tid;
	int done;
};

void *reader_thread(void *arg);

/* Returns true once the reader is asleep, or false if it need not wait. */
static inline bool reader_sleeps(const struct reader *reader)
{
	return falls_asleep(&reader->tid, &reader->done);
}

/*
 * Starts a reader. @unavailable: the value of its member before the call. Returns 0 once the reader
 * is asleep, or an error number.
 */
int reader_start_over(struct reader *reader, trace_id_t trid, const struct timespec *abstime,
		      int unavailable);

int reader_start(struct reader *reader, trace_id_t trid, const struct timespec *abstime);

/* Waits for the end of a reader. Returns the result of the reading function. */
int reader_end(struct reader *reader);

#endif /* _SELFTESTS_READING_H */
