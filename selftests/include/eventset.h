/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of event types and filters, for tests of the library.
 */
#ifndef _SELFTESTS_EVENTSET_H
#define _SELFTESTS_EVENTSET_H

#include <string.h>
#include <trace.h>

#define IDS_MAX	4096	/* ids of event types are from 1 to below this */

/* 1 or 0, or minus an error number. */
static inline int set_has(const trace_event_set_t *set, trace_event_id_t id)
{
	int member = -1, err;

	err = posix_trace_eventset_ismember(id, set, &member);
	return err ? -err : !!member;
}

/* The number of members from @first to below @end. */
static inline int set_count(const trace_event_set_t *set, trace_event_id_t first,
			    trace_event_id_t end)
{
	int count = 0;

	for (trace_event_id_t id = first; id < end; id++)
		count += set_has(set, id) == 1;
	return count;
}

static inline int set_equal(const trace_event_set_t *a, const trace_event_set_t *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* A set with one member. */
static inline trace_event_set_t set_of(trace_event_id_t id)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(id, &set);
	return set;
}

static inline trace_event_set_t set_filled(int what)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_fill(&set, what);
	return set;
}

/* SET, ADD or SUB one event type. */
static inline int filter_one(trace_id_t trid, trace_event_id_t id, int how)
{
	trace_event_set_t set = set_of(id);

	return posix_trace_set_filter(trid, &set, how);
}

#endif /* _SELFTESTS_EVENTSET_H */
