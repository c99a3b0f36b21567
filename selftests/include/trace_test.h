/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams and events for tests of the library.
 */
#ifndef _SELFTESTS_TRACE_TEST_H
#define _SELFTESTS_TRACE_TEST_H

#include <posixtrace.h>
#include <trace.h>

#include "process.h"

/* An event, and what a getnext function returned with it. */
struct event {
	struct posix_trace_event_info info;
	unsigned char data[1024];
	size_t len;
	int unavailable;
};

static inline unsigned long long event_time(const struct event *event)
{
	return event->info.posix_timestamp.tv_sec * NSEC + event->info.posix_timestamp.tv_nsec;
}

/* Creates a small stream, which becomes full soon. */
int new_stream(pid_t pid, int policy, trace_id_t *trid);

/* Creates a small stream on the caller, and starts it. */
int start_new_stream(int policy, trace_id_t *trid);

/* Starts a stream on the caller with space for thousands of small events. */
int new_roomy_stream(trace_id_t *trid);

/*
 * Runs fn(arg, talk) in a child, and waits for its end. The child receives 0 when a running stream
 * traces it. Returns 0, an error number, or the wait status.
 */
int trace_child(struct child *child, int (*fn)(void *arg, const struct talk *talk), void *arg,
		trace_id_t *trid);

/* Reads the next event. Returns 1, 0 if no event is available, or minus an error number. */
int take(trace_id_t trid, struct event *event);

/* Reads all available events. Returns their number, or minus an error number. */
int take_all(trace_id_t trid);

/* Reads the next user event; discards system events before it. */
int take_user(trace_id_t trid, struct event *event);

/* Like take_user(), but also gets the thread id. @data has @size bytes of space. */
int take_user_batch(trace_id_t trid, struct posixtrace_batch_event *event, void *data, size_t size);

/* Returns the number in the data of an event, or -1. */
int event_number(const struct event *event);

#endif /* _SELFTESTS_TRACE_TEST_H */
