// SPDX-License-Identifier: GPL-2.0
/* Attributes objects: their values, and invalid ones. */
#define _GNU_SOURCE
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

trace_attr_t *attr_invalid(int i, trace_attr_t *attr)
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
