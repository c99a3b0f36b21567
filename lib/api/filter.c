// SPDX-License-Identifier: MIT
/*
 * The filter of a stream: event types that it does not record.
 */
#include <string.h>

#include "common/sys.h"
#include "stream/stream.h"

/* Convert POSIX_TRACE_*_EVENTSET. */
static int how_to_uapi(int how, __u32 *uapi)
{
	switch (how) {
	case POSIX_TRACE_SET_EVENTSET:
		*uapi = POSIXTRACE_FILTER_SET;
		return 0;
	case POSIX_TRACE_ADD_EVENTSET:
		*uapi = POSIXTRACE_FILTER_ADD;
		return 0;
	case POSIX_TRACE_SUB_EVENTSET:
		*uapi = POSIXTRACE_FILTER_SUB;
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * posix_trace_get_filter() - get the event types that a stream does not record
 * @trid: trace id
 * @set: result
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process or @set is
 * NULL.
 */
PXTU_API int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
	struct posixtrace_event_set filter;
	struct pxtu_stream *stream;
	int err;

	if (!set)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_GET_FILTER, &filter);
	if (!err)
		memcpy(set, &filter, sizeof(*set));
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posix_trace_set_filter() - change the event types that a stream does not record
 * @trid: trace id
 * @set: set of event types
 * @how: POSIX_TRACE_SET_EVENTSET: replaces the filter; POSIX_TRACE_ADD_EVENTSET:
 *	adds @set to the filter; POSIX_TRACE_SUB_EVENTSET: removes @set from the filter
 *
 * When this returns, events of the types in the filter are no longer recorded. A
 * running stream records POSIX_TRACE_FILTER with the old and the new filter,
 * unless that type is in one of them.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process, @set is
 * NULL or @how has another value; ENOMEM.
 */
PXTU_API int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
	struct posixtrace_filter filter = {
		.origin.prog_address = (uintptr_t)__builtin_return_address(0),
		.origin.thread_id = (uintptr_t)pthread_self(),
	};
	struct pxtu_stream *stream;
	int err;

	if (!set || how_to_uapi(how, &filter.how))
		return EINVAL;
	memcpy(&filter.set, set, sizeof(filter.set));
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_SET_FILTER, &filter);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}
