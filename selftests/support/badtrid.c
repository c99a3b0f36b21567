// SPDX-License-Identifier: GPL-2.0
/* Calls each function with a bad trace id. */
#define _GNU_SOURCE
#include <errno.h>

#include "badtrid.h"

const char *accepts(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	const struct timespec epoch = { 0, 0 };
	trace_event_set_t set = { 0 };
	trace_event_id_t id;
	trace_attr_t attr;
	struct event e;
	int flag;

	if (posix_trace_clear(trid) != EINVAL)
		return "clear";
	if (posix_trace_close(trid) != EINVAL)
		return "close";
	if (posix_trace_eventid_equal(trid, POSIX_TRACE_START, POSIX_TRACE_START))
		return "eventid_equal";
	if (posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name) != EINVAL)
		return "eventid_get_name";
	if (posix_trace_eventtypelist_getnext_id(trid, &id, &flag) != EINVAL)
		return "eventtypelist_getnext_id";
	if (posix_trace_eventtypelist_rewind(trid) != EINVAL)
		return "eventtypelist_rewind";
	if (posix_trace_flush(trid) != EINVAL)
		return "flush";
	if (posix_trace_get_attr(trid, &attr) != EINVAL)
		return "get_attr";
	if (posix_trace_get_filter(trid, &set) != EINVAL)
		return "get_filter";
	if (posix_trace_get_status(trid, &status) != EINVAL)
		return "get_status";
	if (posix_trace_getnext_event(trid, &e.info, e.data, 8, &e.len, &flag) != EINVAL)
		return "getnext_event";
	if (posix_trace_rewind(trid) != EINVAL)
		return "rewind";
	if (posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) != EINVAL)
		return "set_filter";
	if (posix_trace_start(trid) != EINVAL)
		return "start";
	if (posix_trace_stop(trid) != EINVAL)
		return "stop";
	if (posix_trace_timedgetnext_event(trid, &e.info, e.data, 8, &e.len, &flag,
					   &epoch) != EINVAL)
		return "timedgetnext_event";
	if (posix_trace_trid_eventid_open(trid, "name", &id) != EINVAL)
		return "trid_eventid_open";
	if (posix_trace_trygetnext_event(trid, &e.info, e.data, 8, &e.len, &flag) != EINVAL)
		return "trygetnext_event";
	if (posix_trace_shutdown(trid) != EINVAL)
		return "shutdown";
	return "";
}
