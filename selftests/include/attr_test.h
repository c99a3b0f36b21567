/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for attributes objects.
 */
#ifndef _SELFTESTS_ATTR_TEST_H
#define _SELFTESTS_ATTR_TEST_H

#include <time.h>
#include <trace.h>

/* All values of an attributes object, without padding: memcmp() compares them. */
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
int attr_read(const trace_attr_t *attr, struct attr_values *values);

/* The attributes of a stream that is created with @attr. */
int attr_granted(const trace_attr_t *attr, trace_attr_t *granted);

/* Invalidates @attr with object number @i of ATTR_INVALID. */
#define ATTR_INVALID	4

trace_attr_t *attr_invalid(int i, trace_attr_t *attr);

#endif /* _SELFTESTS_ATTR_TEST_H */
