/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event sets and filters, for tests of the library.
 */
#ifndef _SELFTESTS_EVENTSET_H
#define _SELFTESTS_EVENTSET_H

#include <string.h>
#include <trace.h>

#define IDS_MAX	4096	/* all ids of event types are smaller */

/* Checks if a type is in a set. Returns 1 or 0, or minus an error number. */
int set_has(const trace_event_set_t *set, trace_event_id_t id);

/* Returns the number of members from @first up to, but not including, @end. */
int set_count(const trace_event_set_t *set, trace_event_id_t first, trace_event_id_t end);

static inline int set_equal(const trace_event_set_t *a, const trace_event_set_t *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Returns a set with one member. */
trace_event_set_t set_of(trace_event_id_t id);

trace_event_set_t set_filled(int what);

/* Changes a filter: applies SET, ADD or SUB with one event type. */
int filter_one(trace_id_t trid, trace_event_id_t id, int how);

#endif /* _SELFTESTS_EVENTSET_H */
