// SPDX-License-Identifier: GPL-2.0
/* Streams and events. */
#define _GNU_SOURCE
#include <string.h>

#include "trace_test.h"

int new_stream(pid_t pid, int policy, trace_id_t *trid)
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

int new_roomy_stream(trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, 1 << 20);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, 64);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL);
	if (!err)
		err = posix_trace_create(0, &attr, trid);
	return err ? err : posix_trace_start(*trid);
}

int start_new_stream(int policy, trace_id_t *trid)
{
	int err = new_stream(0, policy, trid);

	return err ? err : posix_trace_start(*trid);
}

int trace_child(struct child *child, int (*fn)(void *arg, const struct talk *talk), void *arg,
		trace_id_t *trid)
{
	int err = child_start(child, fn, arg), status;

	if (err)
		return err;
	err = new_stream(child->pid, POSIX_TRACE_LOOP, trid);
	if (!err)
		err = posix_trace_start(*trid);
	say(&child->talk, err);
	status = child_wait(child);
	return err ? err : status;
}

int take(trace_id_t trid, struct event *event)
{
	int err = posix_trace_trygetnext_event(trid, &event->info, event->data,
					       sizeof(event->data), &event->len,
					       &event->unavailable);

	return err ? -err : !event->unavailable;
}

int take_all(trace_id_t trid)
{
	struct event event;
	int count = 0, ret;

	while ((ret = take(trid, &event)) == 1)
		count++;
	return ret ? ret : count;
}

int take_user(trace_id_t trid, struct event *event)
{
	int ret;

	do {
		ret = take(trid, event);
	} while (ret == 1 && event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	return ret;
}

int event_number(const struct event *event)
{
	int number = -1;

	if (event->len >= sizeof(number))
		memcpy(&number, event->data, sizeof(number));
	return number;
}

int take_user_batch(trace_id_t trid, struct posixtrace_batch_event *event, void *data, size_t size)
{
	size_t count;
	int err;

	do {
		err = posixtrace_getevents(trid, event, 1, data, size, &count, POSIXTRACE_NOWAIT);
		if (err || !count)
			return -err;
	} while (event->event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	return 1;
}
