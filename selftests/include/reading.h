/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading streams in tests: the three functions, and threads that wait in them.
 */
#ifndef _SELFTESTS_READING_H
#define _SELFTESTS_READING_H

#include <pthread.h>

#include "trace_test.h"

static inline void record_number(int number)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
}

/* The next event, with space for that many bytes of its data. */
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

/* A thread that reads one event, with a deadline or without. */
struct reader {
	trace_id_t trid;
	const struct timespec *abstime;
	pthread_t thread;
	struct event event;
	int ret;
	int tid;
	int done;
};

static inline void *reader_thread(void *arg)
{
	struct reader *reader = arg;

	__atomic_store_n(&reader->tid, gettid(), __ATOMIC_RELEASE);
	if (reader->abstime)
		reader->ret = read_timed(reader->trid, &reader->event,
					 sizeof(reader->event.data), reader->abstime);
	else
		reader->ret = read_next(reader->trid, &reader->event,
					sizeof(reader->event.data));
	__atomic_store_n(&reader->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns true once the reader is asleep, or false if it need not wait. */
static inline bool reader_sleeps(struct reader *reader)
{
	while (!__atomic_load_n(&reader->tid, __ATOMIC_ACQUIRE) || !is_asleep(reader->tid)) {
		if (__atomic_load_n(&reader->done, __ATOMIC_ACQUIRE))
			return false;
		sched_yield();
	}
	return true;
}

/* @unavailable is set before the call. Returns 0 once the reader is asleep, or an error number. */
static inline int reader_start_over(struct reader *reader, trace_id_t trid,
				    const struct timespec *abstime, int unavailable)
{
	int err;

	*reader = (struct reader){
		.trid = trid,
		.abstime = abstime,
		.event = { .unavailable = unavailable },
		.ret = -1,
	};
	err = pthread_create(&reader->thread, NULL, reader_thread, reader);
	if (err)
		return err;
	return reader_sleeps(reader) ? 0 : EAGAIN;
}

static inline int reader_start(struct reader *reader, trace_id_t trid,
			       const struct timespec *abstime)
{
	return reader_start_over(reader, trid, abstime, 0);
}

/* The result of the function. */
static inline int reader_end(struct reader *reader)
{
	pthread_join(reader->thread, NULL);
	return reader->ret;
}

#endif /* _SELFTESTS_READING_H */
