/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event type names, for tests of the functions that define and list them.
 */
#ifndef _SELFTESTS_NAME_TEST_H
#define _SELFTESTS_NAME_TEST_H

#include <stddef.h>
#include <trace.h>

#define PREDEFINED	9

/* The event types that the standard defines. */
struct predefined {
	trace_event_id_t id;
	const char *name;
};

extern const struct predefined predefined[PREDEFINED];

struct name {
	char text[TRACE_EVENT_NAME_MAX + 2];
};

struct name numbered(const char *text, int number);

/* Returns a name of @len characters that ends with @last. */
struct name long_name(size_t len, char last);

/* Returns the id of a name in this process, or 0. */
trace_event_id_t open_id(const char *text);

/* Returns the id of a name in the traced process, or 0. */
trace_event_id_t open_trid_id(trace_id_t trid, const char *text);

/* Returns the name of an event type, or "". */
struct name name_of(trace_id_t trid, trace_event_id_t id);

/* Returns the next id of the list, 0 at its end, or minus an error number. */
int next_id(trace_id_t trid);

#endif /* _SELFTESTS_NAME_TEST_H */
