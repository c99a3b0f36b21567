// SPDX-License-Identifier: GPL-2.0
/* Event type names. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "name_test.h"

const struct predefined predefined[PREDEFINED] = {
	{ POSIX_TRACE_ERROR, "posix_trace_error" },
	{ POSIX_TRACE_START, "posix_trace_start" },
	{ POSIX_TRACE_STOP, "posix_trace_stop" },
	{ POSIX_TRACE_FILTER, "posix_trace_filter" },
	{ POSIX_TRACE_OVERFLOW, "posix_trace_overflow" },
	{ POSIX_TRACE_RESUME, "posix_trace_resume" },
	{ POSIX_TRACE_FLUSH_START, "posix_trace_flush_start" },
	{ POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop" },
	{ POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent" },
};

struct name numbered(const char *text, int number)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "%s %d", text, number);
	return name;
}

struct name long_name(size_t len, char last)
{
	struct name name = { "" };

	memset(name.text, 'n', len);
	name.text[len - 1] = last;
	return name;
}

trace_event_id_t open_id(const char *text)
{
	trace_event_id_t id = 0;

	return posix_trace_eventid_open(text, &id) ? 0 : id;
}

trace_event_id_t open_trid_id(trace_id_t trid, const char *text)
{
	trace_event_id_t id = 0;

	return posix_trace_trid_eventid_open(trid, text, &id) ? 0 : id;
}

struct name name_of(trace_id_t trid, trace_event_id_t id)
{
	struct name name = { "" };

	if (posix_trace_eventid_get_name(trid, id, name.text))
		name.text[0] = '\0';
	return name;
}

int next_id(trace_id_t trid)
{
	trace_event_id_t id = 4711;
	int unavailable = -1;
	int err = posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);

	if (err)
		return -err;
	return unavailable ? 0 : (int)id;
}
