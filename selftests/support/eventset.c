// SPDX-License-Identifier: GPL-2.0
/* Event sets and filters. */
#define _GNU_SOURCE
#include "eventset.h"

int set_has(const trace_event_set_t *set, trace_event_id_t id)
{
	int member = -1, err;

	err = posix_trace_eventset_ismember(id, set, &member);
	return err ? -err : !!member;
}

int set_count(const trace_event_set_t *set, trace_event_id_t first, trace_event_id_t end)
{
	int count = 0;

	for (trace_event_id_t id = first; id < end; id++)
		count += set_has(set, id) == 1;
	return count;
}

trace_event_set_t set_of(trace_event_id_t id)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(id, &set);
	return set;
}

trace_event_set_t set_filled(int what)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_fill(&set, what);
	return set;
}

int filter_one(trace_id_t trid, trace_event_id_t id, int how)
{
	trace_event_set_t set = set_of(id);

	return posix_trace_set_filter(trid, &set, how);
}
