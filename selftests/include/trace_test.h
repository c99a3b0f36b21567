/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams and events for tests of the library.
 */
#ifndef _SELFTESTS_TRACE_TEST_H
#define _SELFTESTS_TRACE_TEST_H

#include <trace.h>

#include "process.h"

/* The result of a getnext function. */
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

/* Creates a small stream, which is soon full. */
static inline int new_stream(pid_t pid, int policy, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, 64 << 10);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, 256);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, policy);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err;
}

/* Reads the next event. Returns 1, 0 if there is none, or minus an error number. */
static inline int take(trace_id_t trid, struct event *event)
{
	int err = posix_trace_trygetnext_event(trid, &event->info, event->data,
					       sizeof(event->data), &event->len,
					       &event->unavailable);

	return err ? -err : !event->unavailable;
}

/* Reads the next user event, and drops system events before it. */
static inline int take_user(trace_id_t trid, struct event *event)
{
	int ret;

	do {
		ret = take(trid, event);
	} while (ret == 1 && event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	return ret;
}

/* The number in the data of an event, -1 if there is none. */
static inline int event_number(const struct event *event)
{
	int number = -1;

	if (event->len >= sizeof(number))
		memcpy(&number, event->data, sizeof(number));
	return number;
}

#endif /* _SELFTESTS_TRACE_TEST_H */
