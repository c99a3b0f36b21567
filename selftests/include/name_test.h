/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of event types, for tests of the functions that define and list them.
 */
#ifndef _SELFTESTS_NAME_TEST_H
#define _SELFTESTS_NAME_TEST_H

#include <stdio.h>
#include <string.h>
#include <trace.h>

#define PREDEFINED	9

struct name {
	char text[TRACE_EVENT_NAME_MAX + 2];
};

static inline struct name numbered(const char *text, int number)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "%s %d", text, number);
	return name;
}

/* A name of @len characters with the given last one. */
static inline struct name long_name(size_t len, char last)
{
	struct name name = { "" };

	memset(name.text, 'n', len);
	name.text[len - 1] = last;
	return name;
}

/* The id of a name in this process, or 0. */
static inline trace_event_id_t open_id(const char *text)
{
	trace_event_id_t id = 0;

	return posix_trace_eventid_open(text, &id) ? 0 : id;
}

/* The id of a name in the traced process, or 0. */
static inline trace_event_id_t open_trid_id(trace_id_t trid, const char *text)
{
	trace_event_id_t id = 0;

	return posix_trace_trid_eventid_open(trid, text, &id) ? 0 : id;
}

/* The name of an id, "" if it has none. */
static inline struct name name_of(trace_id_t trid, trace_event_id_t id)
{
	struct name name = { "" };

	if (posix_trace_eventid_get_name(trid, id, name.text))
		name.text[0] = '\0';
	return name;
}

/* The next id of the list, 0 at its end, or minus an error number. */
static inline int next_id(trace_id_t trid)
{
	trace_event_id_t id = 4711;
	int unavailable = -1;
	int err = posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);

	if (err)
		return -err;
	return unavailable ? 0 : (int)id;
}

#endif /* _SELFTESTS_NAME_TEST_H */
