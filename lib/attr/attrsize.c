// SPDX-License-Identifier: MIT
/*
 * Attributes objects: sizes of streams, logs and events.
 *
 * The two functions that return the size of an event make a promise: if the sizes of events
 * sum up to no more than stream-min-size, all of them are recorded, on any CPUs. The size of an
 * event includes its record, and a share of the unused ends of sub-buffers, which exist because a
 * record does not cross from one sub-buffer into the next.
 */
#include <stdint.h>

#include "attr/attr.h"

#define SYS_RECORD_MAX	POSIXTRACE_RECORD_SIZE(POSIXTRACE_SYSDATA_MAX)

/* POSIX_TRACE_STOP. The module leaves room for it after each system event. */
#define STOP_RECORD	POSIXTRACE_RECORD_SIZE(sizeof(int))

static size_t div_round_up(uint64_t n, uint64_t d)
{
	return (size_t)((n + d - 1) / d);
}

/**
 * posix_trace_attr_getlogsize() - get the size of the log
 * @attr: attributes object
 * @logsize: result, log-max-size, in bytes
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @logsize is NULL.
 */
PXTU_API int posix_trace_attr_getlogsize(const trace_attr_t *restrict attr,
					 size_t *restrict logsize)
{
	if (!pxtu_attr_valid(attr) || !logsize)
		return EINVAL;
	*logsize = (size_t)attr->__log_size;
	return 0;
}

/**
 * posix_trace_attr_setlogsize() - set the size of the log
 * @attr: attributes object
 * @logsize: log-max-size, in bytes; not used with POSIX_TRACE_APPEND
 *
 * Return: 0; EINVAL if @attr is not an initialized object or no file can be that
 * large.
 */
PXTU_API int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize)
{
	if (!pxtu_attr_valid(attr))
		return EINVAL;
#if SIZE_MAX > INT64_MAX
	if (logsize > INT64_MAX)
		return EINVAL;
#endif
	attr->__log_size = logsize;
	return 0;
}

/**
 * posix_trace_attr_getmaxdatasize() - get the largest data of a user event
 * @attr: attributes object
 * @maxdatasize: result, max-data-size, in bytes
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @maxdatasize is NULL.
 */
PXTU_API int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict attr,
					     size_t *restrict maxdatasize)
{
	if (!pxtu_attr_valid(attr) || !maxdatasize)
		return EINVAL;
	*maxdatasize = (size_t)attr->__max_data_size;
	return 0;
}

/**
 * posix_trace_attr_setmaxdatasize() - set the largest data of a user event
 * @attr: attributes object
 * @maxdatasize: max-data-size, in bytes; longer data is truncated
 *
 * Return: 0; EINVAL if @attr is not an initialized object or the size is above
 * 65488 bytes.
 */
PXTU_API int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize)
{
	if (!pxtu_attr_valid(attr) || maxdatasize > POSIXTRACE_DATA_SIZE_MAX)
		return EINVAL;
	attr->__max_data_size = maxdatasize;
	return 0;
}

/**
 * posix_trace_attr_getmaxsystemeventsize() - get the memory that a system event takes
 * @attr: attributes object
 * @eventsize: result, size of the largest one, in bytes
 *
 * The largest system event is POSIX_TRACE_FILTER with its two event sets. With the name of its
 * thread, its record takes R = 1072 bytes. System events have separate sub-buffers, of S bytes, at
 * least 4 KiB. The module closes such a sub-buffer when the next record and a POSIX_TRACE_STOP
 * after it, together at most P = 1128 bytes, do not fit: then at most P - 8 bytes are left. So at
 * least S - (P - 8) bytes of the sub-buffer are used, and an event takes at most
 * R * S / (S - P + 8) bytes of memory. This decreases with S, so the smallest S is the worst case.
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @eventsize is NULL.
 */
PXTU_API int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict attr,
						    size_t *restrict eventsize)
{
	if (!pxtu_attr_valid(attr) || !eventsize)
		return EINVAL;
	*eventsize = div_round_up(SYS_RECORD_MAX * POSIXTRACE_SUBBUF_SIZE_MIN,
				  POSIXTRACE_SUBBUF_SIZE_MIN - SYS_RECORD_MAX - STOP_RECORD +
				  POSIXTRACE_RECORD_ALIGN);
	return 0;
}

/**
 * posix_trace_attr_getmaxusereventsize() - get the memory that a user event takes
 * @attr: attributes object
 * @data_len: bytes of data; data beyond max-data-size is truncated and does not
 *	count
 * @eventsize: result, in bytes
 *
 * A sub-buffer is at least eight times as large as the largest record
 * (kmod/ring/policy.h), and the module closes it when a record does not fit, so less
 * than an eighth of it remains unused. A record of R bytes, with the name of its thread,
 * therefore takes at most R * 8 / 7 bytes of memory. If the module makes sub-buffers smaller,
 * it makes enough of them for the same events. The open sub-buffers, one for each CPU, are not
 * part of stream-min-size.
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @eventsize is NULL.
 */
PXTU_API int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict attr,
						  size_t data_len, size_t *restrict eventsize)
{
	uint64_t len = data_len;

	if (!pxtu_attr_valid(attr) || !eventsize)
		return EINVAL;
	if (len > attr->__max_data_size)
		len = attr->__max_data_size;
	*eventsize = div_round_up(POSIXTRACE_RECORD_SIZE(len) * 8, 7);
	return 0;
}

/**
 * posix_trace_attr_getstreamsize() - get the size of the stream
 * @attr: attributes object
 * @streamsize: result, stream-min-size, in bytes
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @streamsize is NULL.
 */
PXTU_API int posix_trace_attr_getstreamsize(const trace_attr_t *restrict attr,
					    size_t *restrict streamsize)
{
	if (!pxtu_attr_valid(attr) || !streamsize)
		return EINVAL;
	*streamsize = (size_t)attr->__stream_size;
	return 0;
}

/**
 * posix_trace_attr_setstreamsize() - set the size of the stream
 * @attr: attributes object
 * @streamsize: stream-min-size, in bytes; the stream may be larger, and
 *	posix_trace_get_attr() returns the granted size
 *
 * Return: 0; EINVAL if @attr is not an initialized object or the size is above
 * 1 GiB.
 */
PXTU_API int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize)
{
	if (!pxtu_attr_valid(attr) || streamsize > POSIXTRACE_STREAM_SIZE_MAX)
		return EINVAL;
	attr->__stream_size = streamsize;
	return 0;
}
