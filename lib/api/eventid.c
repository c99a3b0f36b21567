// SPDX-License-Identifier: MIT
/*
 * Event types: names and numbers. The module keeps the table, which belongs to the traced
 * process.
 */
#include <posixtrace.h>
#include <string.h>

#include "api/eventid.h"
#include "common/sys.h"
#include "record/attach.h"
#include "stream/stream.h"

/* The predefined types have the same numbers in the module. */
_Static_assert(POSIX_TRACE_ERROR == POSIXTRACE_ID_ERROR, "as in the uapi");
_Static_assert(POSIX_TRACE_START == POSIXTRACE_ID_START, "as in the uapi");
_Static_assert(POSIX_TRACE_STOP == POSIXTRACE_ID_STOP, "as in the uapi");
_Static_assert(POSIX_TRACE_OVERFLOW == POSIXTRACE_ID_OVERFLOW, "as in the uapi");
_Static_assert(POSIX_TRACE_RESUME == POSIXTRACE_ID_RESUME, "as in the uapi");
_Static_assert(POSIX_TRACE_FLUSH_START == POSIXTRACE_ID_FLUSH_START, "as in the uapi");
_Static_assert(POSIX_TRACE_FLUSH_STOP == POSIXTRACE_ID_FLUSH_STOP, "as in the uapi");
_Static_assert(POSIX_TRACE_FILTER == POSIXTRACE_ID_FILTER, "as in the uapi");
_Static_assert(POSIX_TRACE_UNNAMED_USEREVENT == POSIXTRACE_ID_UNNAMED, "as in the uapi");
_Static_assert(POSIXTRACE_EVENT_ID_MAX == POSIXTRACE_ID_MAX, "as in the uapi");
_Static_assert(TRACE_USER_EVENT_MAX == POSIXTRACE_IMAGE_TYPES, "one limit");
_Static_assert(TRACE_EVENT_NAME_MAX + 1 == POSIXTRACE_EVENT_NAME_SIZE, "names fit");

int pxtu_eventid_name(const char *name, struct posixtrace_eventid *eventid)
{
	size_t len;

	if (!name)
		return -EINVAL;
	len = strnlen(name, sizeof(eventid->name));
	if (!len)
		return -EINVAL;
	if (len == sizeof(eventid->name))
		return -ENAMETOOLONG;
	memset(eventid, 0, sizeof(*eventid));
	memcpy(eventid->name, name, len);
	return 0;
}

int pxtu_eventid_open(struct posixtrace_eventid *eventid)
{
	return pxtu_attach_command(POSIXTRACE_IOC_EVENTID_OPEN, eventid);
}

/**
 * posix_trace_eventid_open() - get the event type of a name, in the calling process
 * @event_name: name, 1 to TRACE_EVENT_NAME_MAX characters
 * @event_id: result
 *
 * A name always has the same type, in this process and in all current and future streams that
 * trace it, until the process executes another program. A child shares the types of its parent.
 * The name of a predefined type returns that type. If the program already has TRACE_USER_EVENT_MAX
 * types, a new name returns POSIX_TRACE_UNNAMED_USEREVENT.
 *
 * Return: 0; EINVAL if a pointer is NULL or the name is empty; ENAMETOOLONG;
 * ENODEV without the module, which keeps the names; ENOTSUP if it has another version;
 * EPERM without permission to open the device; ENOMEM; EMFILE and ENFILE if no descriptors are
 * left.
 */
PXTU_API int posix_trace_eventid_open(const char *restrict event_name,
				      trace_event_id_t *restrict event_id)
{
	struct posixtrace_eventid eventid;
	int err;

	if (!event_id)
		return EINVAL;
	err = pxtu_eventid_name(event_name, &eventid);
	if (!err)
		err = pxtu_eventid_open(&eventid);
	if (!err)
		*event_id = eventid.id;
	return pxtu_error(err);
}

/**
 * posix_trace_trid_eventid_open() - get the event type of a name, in the traced process
 * @trid: trace id
 * @event_name: name, 1 to TRACE_EVENT_NAME_MAX characters
 * @event: result
 *
 * Returns the same type as posix_trace_eventid_open() in the process that the stream was created
 * for, in the program that it currently executes.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process, a
 * pointer is NULL or the name is empty; ENAMETOOLONG; ENOMEM.
 */
PXTU_API int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict event_name,
					   trace_event_id_t *restrict event)
{
	struct posixtrace_eventid eventid;
	struct pxtu_stream *stream;
	int err;

	if (!event)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_eventid_name(event_name, &eventid);
	if (!err)
		err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_EVENTID_OPEN, &eventid);
	if (!err)
		*event = eventid.id;
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posix_trace_eventid_get_name() - get the name of an event type
 * @trid: trace id
 * @event: event type of the stream, predefined or not
 * @event_name: array of TRACE_EVENT_NAME_MAX + 1 bytes
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process, it has no such
 * event type or @event_name is NULL.
 */
PXTU_API int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event,
					  char *event_name)
{
	struct pxtu_source *source;
	int err;

	if (!event_name)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	err = source->ops->get_name(source, event, event_name);
	pxtu_trid_put(source);
	return pxtu_error(err);
}

/**
 * posix_trace_eventid_equal() - compare two event types
 * @trid: trace id of the stream that both belong to
 * @event1: event type
 * @event2: event type
 *
 * The standard does not define the result for an invalid trace id; here no types are equal
 * in that case.
 *
 * Return: 1 or 0.
 */
PXTU_API int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1,
				       trace_event_id_t event2)
{
	struct pxtu_source *source = pxtu_trid_get(trid, NULL);
	int err;

	if (!source)
		return 0;
	err = source->ops->alive(source);
	pxtu_trid_put(source);
	return !err && event1 == event2;
}
