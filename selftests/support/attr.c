// SPDX-License-Identifier: GPL-2.0
/* Gets and sets attributes: all values together, and single ones. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "attr_test.h"

int attr_read(const trace_attr_t *attr, struct attr_values *values)
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

int attr_granted(const trace_attr_t *attr, trace_attr_t *granted)
{
	trace_id_t trid;
	int err = posix_trace_create(0, attr, &trid);

	if (err)
		return err;
	err = posix_trace_get_attr(trid, granted);
	posix_trace_shutdown(trid);
	return err;
}

const char *attr_module_version(void)
{
	FILE *file = fopen("/sys/module/posixtrace/version", "re");
	static char version[64];
	char module[32];

	version[0] = '\0';
	if (file && fscanf(file, "%31s", module) == 1)
		snprintf(version, sizeof(version), "posixtrace %s", module);
	if (file)
		fclose(file);
	return version;
}

#define INT_ATTRIBUTE(name, field) {				\
	.get_int = posix_trace_attr_get##name,			\
	.set_int = posix_trace_attr_set##name,			\
	.offset = offsetof(struct attr_values, field),		\
}

#define SIZE_ATTRIBUTE(name, field) {				\
	.get_size = posix_trace_attr_get##name,			\
	.set_size = posix_trace_attr_set##name,			\
	.offset = offsetof(struct attr_values, field),		\
}

const struct attribute attr_inherited = INT_ATTRIBUTE(inherited, inherited);
const struct attribute attr_log_policy = INT_ATTRIBUTE(logfullpolicy, log_policy);
const struct attribute attr_log_size = SIZE_ATTRIBUTE(logsize, log_size);
const struct attribute attr_max_data_size = SIZE_ATTRIBUTE(maxdatasize, max_data_size);
const struct attribute attr_stream_policy = INT_ATTRIBUTE(streamfullpolicy, stream_policy);
const struct attribute attr_stream_size = SIZE_ATTRIBUTE(streamsize, stream_size);

int attribute_get(const struct attribute *attribute, const trace_attr_t *attr, long *value)
{
	size_t size = 4711;
	int number = -1, err;

	if (attribute->get_int) {
		err = attribute->get_int(attr, &number);
		*value = number;
	} else {
		err = attribute->get_size(attr, &size);
		*value = size;
	}
	return err;
}

int attribute_set(const struct attribute *attribute, trace_attr_t *attr, long value)
{
	return attribute->set_int ? attribute->set_int(attr, value) :
				    attribute->set_size(attr, value);
}
