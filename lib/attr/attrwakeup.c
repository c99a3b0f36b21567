// SPDX-License-Identifier: MIT
/*
 * Attributes objects: when to wake a sleeping reader.
 */
#include <posixtrace.h>

#include "attr/attr.h"

/**
 * posixtrace_attr_getwakeup() - get when a sleeping reader is woken
 * @attr: attributes object
 * @bytes: result, bytes of unread events
 * @ns: result, age of the oldest unread event, in nanoseconds
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @bytes or @ns is NULL.
 */
PXTU_API int posixtrace_attr_getwakeup(const trace_attr_t *attr, size_t *bytes, uint64_t *ns)
{
	if (!pxtu_attr_valid(attr) || !bytes || !ns)
		return EINVAL;
	*bytes = (size_t)attr->__wakeup_bytes;
	*ns = attr->__wakeup_ns;
	return 0;
}

/**
 * posixtrace_attr_setwakeup() - set when a sleeping reader is woken
 * @attr: attributes object
 * @bytes: wake the reader once unread events fill this many bytes; 0: no byte limit
 * @ns: wake the reader once the oldest unread event is this many nanoseconds old; 0: no age limit
 *
 * If both are 0, each event wakes a sleeping reader immediately. @bytes must not exceed the size
 * of the stream that is created with it.
 *
 * Return: 0; EINVAL if @attr is not an initialized object, @bytes is above 1 GiB or @ns is more
 * than an hour.
 */
PXTU_API int posixtrace_attr_setwakeup(trace_attr_t *attr, size_t bytes, uint64_t ns)
{
	if (!pxtu_attr_valid(attr) || bytes > POSIXTRACE_STREAM_SIZE_MAX ||
	    ns > POSIXTRACE_WAKEUP_NS_MAX)
		return EINVAL;
	attr->__wakeup_bytes = bytes;
	attr->__wakeup_ns = ns;
	return 0;
}
