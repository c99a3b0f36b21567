// SPDX-License-Identifier: MIT
/*
 * Functions that this release does not implement yet: those that write logs. They check
 * what can be checked and then say ENOTSUP, so that a program finds out;
 * Documentation/conformance.rst lists them.
 */
#include "attr.h"
#include "trid.h"

/* A function for streams with log or for logs: there are no such trace ids. */
static int no_log(trace_id_t trid)
{
	(void)trid;
	return EINVAL;
}

/**
 * posix_trace_create_withlog() - create an active trace stream with log
 * @pid: process to trace, 0 for the caller
 * @attr: attributes; NULL for the defaults
 * @file_desc: descriptor of the log
 * @trid: where to write the trace id
 *
 * Return: ENOTSUP in this release; EINVAL if @attr is not initialized or @trid
 * is NULL; EBADF if @file_desc is negative.
 */
PXTU_API int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr,
					int file_desc, trace_id_t *restrict trid)
{
	(void)pid;
	if (!trid || (attr && !pxtu_attr_valid(attr)))
		return EINVAL;
	return file_desc < 0 ? EBADF : ENOTSUP;
}

/**
 * posix_trace_flush() - write the events of a stream into its log
 * @trid: trace id
 *
 * Return: EINVAL: in this release no stream has a log.
 */
PXTU_API int posix_trace_flush(trace_id_t trid)
{
	return no_log(trid);
}
