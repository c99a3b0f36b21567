/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes objects for tests of the library.
 */
#ifndef _SELFTESTS_ATTR_TEST_H
#define _SELFTESTS_ATTR_TEST_H

#include <string.h>
#include <time.h>
#include <trace.h>

/* All values of an attributes object, without padding, so that they can be compared as memory. */
struct attr_values {
	char name[TRACE_NAME_MAX + 1];
	char version[TRACE_NAME_MAX + 1];
	struct timespec resolution;
	struct timespec created;
	size_t stream_size;
	size_t max_data_size;
	size_t log_size;
	long inherited;
	long stream_policy;
	long log_policy;
};

/* Reads the object. Returns 0, or the error number of the first function that fails. */
static inline int attr_read(const trace_attr_t *attr, struct attr_values *values)
{
	int inherited, stream_policy, log_policy, err;

	memset(values, 0, sizeof(*values));
	err = posix_trace_attr_getname(attr, values->name);
	if (!err)
		err = posix_trace_attr_getgenversion(attr, values->version);
	if (!err)
		err = posix_trace_attr_getclockres(attr, &values->resolution);
	if (!err)
		err = posix_trace_attr_getcreatetime(attr, &values->created);
	if (!err)
		err = posix_trace_attr_getstreamsize(attr, &values->stream_size);
	if (!err)
		err = posix_trace_attr_getmaxdatasize(attr, &values->max_data_size);
	if (!err)
		err = posix_trace_attr_getlogsize(attr, &values->log_size);
	if (!err)
		err = posix_trace_attr_getinherited(attr, &inherited);
	if (!err)
		err = posix_trace_attr_getstreamfullpolicy(attr, &stream_policy);
	if (!err)
		err = posix_trace_attr_getlogfullpolicy(attr, &log_policy);
	if (err)
		return err;
	values->inherited = inherited;
	values->stream_policy = stream_policy;
	values->log_policy = log_policy;
	return 0;
}

/* The attributes of a stream that is created with @attr. */
static inline int attr_granted(const trace_attr_t *attr, trace_attr_t *granted)
{
	trace_id_t trid;
	int err = posix_trace_create(0, attr, &trid);

	if (err)
		return err;
	err = posix_trace_get_attr(trid, granted);
	posix_trace_shutdown(trid);
	return err;
}

/* Makes invalid object number @i of ATTR_INVALID in @attr. */
#define ATTR_INVALID	4

static inline trace_attr_t *attr_invalid(int i, trace_attr_t *attr)
{
	if (i == 0)
		return NULL;
	if (i == 1) {
		posix_trace_attr_init(attr);
		posix_trace_attr_destroy(attr);
	} else {
		memset(attr, i == 2 ? 0 : 0xff, sizeof(*attr));
	}
	return attr;
}

#endif /* _SELFTESTS_ATTR_TEST_H */
