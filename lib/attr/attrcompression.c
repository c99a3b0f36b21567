// SPDX-License-Identifier: MIT
/*
 * Attributes objects: the compression of logs.
 */
#include <posixtrace.h>

#include "attr/attr.h"

/**
 * posixtrace_attr_getcompression() - get the compression of the events in a log
 * @attr: attributes object
 * @compression: result: POSIXTRACE_COMPRESS_NONE or POSIXTRACE_COMPRESS_LZ4
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @compression is NULL.
 */
PXTU_API int posixtrace_attr_getcompression(const trace_attr_t *attr, int *compression)
{
	if (!pxtu_attr_valid(attr) || !compression)
		return EINVAL;
	*compression = attr->__compression;
	return 0;
}

/**
 * posixtrace_attr_setcompression() - choose the compression of the events in a log
 * @attr: attributes object
 * @compression: POSIXTRACE_COMPRESS_NONE or POSIXTRACE_COMPRESS_LZ4
 *
 * If the kernel has no such compressor, the log is not compressed, and posix_trace_get_attr()
 * reports POSIXTRACE_COMPRESS_NONE.
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @compression is neither.
 */
PXTU_API int posixtrace_attr_setcompression(trace_attr_t *attr, int compression)
{
	if (!pxtu_attr_valid(attr) || (compression != POSIXTRACE_COMPRESS_NONE &&
				       compression != POSIXTRACE_COMPRESS_LZ4))
		return EINVAL;
	attr->__compression = compression;
	return 0;
}
