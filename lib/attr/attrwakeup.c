// SPDX-License-Identifier: MIT
/*
 * Attributes objects: when a sleeping reader is worth waking.
 */
#include <posixtrace.h>

#include "attr/attr.h"

/**
 * posixtrace_attr_getwakeup() - when a sleeping reader is woken
 * @attr: attributes object
 * @bytes: where to write the bytes of unread events
 * @ns: where to write the age of the oldest one, in nanoseconds
 *
 * Return: 0; EINVAL if @attr is no initialized object, or @bytes or @ns is NULL.
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
 * @bytes: when unread events fill so many bytes of the stream; 0: at no number of bytes
 * @ns: when the oldest unread event is so many nanoseconds old; 0: at no age
 *
 * If both are 0, each event wakes a sleeping reader at once. A stream takes no more @bytes than
 * its size.
 *
 * Return: 0; EINVAL if @attr is no initialized object, @bytes is above 1 GiB or @ns is more than an
 * hour.
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
