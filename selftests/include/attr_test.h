/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for attributes objects.
 */
#ifndef _SELFTESTS_ATTR_TEST_H
#define _SELFTESTS_ATTR_TEST_H

#include <time.h>
#include <trace.h>

/* All values of an attributes object, without padding, so that memcmp() can compare them. */
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

/* Creates a stream with @attr, and gets the attributes of that stream. */
int attr_granted(const trace_attr_t *attr, trace_attr_t *granted);

/* Returns the generation version of streams of the loaded module; "" if unknown. */
const char *attr_module_version(void);

/* An attribute of type int or size_t, with its get and set function. */
struct attribute {
	int (*get_int)(const trace_attr_t *attr, int *value);
	int (*set_int)(trace_attr_t *attr, int value);
	int (*get_size)(const trace_attr_t *attr, size_t *value);
	int (*set_size)(trace_attr_t *attr, size_t value);
	size_t offset;		/* in struct attr_values */
};

extern const struct attribute attr_inherited;
extern const struct attribute attr_log_policy;
extern const struct attribute attr_log_size;
extern const struct attribute attr_max_data_size;
extern const struct attribute attr_stream_policy;
extern const struct attribute attr_stream_size;

/* Get or set the attribute. Return 0 or an error number. */
int attribute_get(const struct attribute *attribute, const trace_attr_t *attr, long *value);
int attribute_set(const struct attribute *attribute, trace_attr_t *attr, long value);

#endif /* _SELFTESTS_ATTR_TEST_H */
