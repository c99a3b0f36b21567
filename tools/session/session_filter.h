/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event types that "live" and "record" record, by --filter and --exclude.
 *
 * The kernel filters by types. If the options have whole names only, it has the final filter before
 * the stream starts. Otherwise a type that the process opens later is recorded until this command
 * notices it, and holds it back if it does not match.
 */
#ifndef POSIXTRACE_SESSION_FILTER_H
#define POSIXTRACE_SESSION_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>

#include "event/filter.h"
#include "event/source.h"

/* All event type ids are smaller. */
#define SESSION_FILTER_TYPES	POSIXTRACE_EVENT_ID_MAX

/* Names of event types, as argz_add_sep() makes them of the arguments. */
struct names {
	char *argz;
	size_t len;
};

/**
 * struct session_filter - which events to record; initially all zero
 * @filters: arguments of --filter; an event needs to pass one of them
 * @nr_filters: number of @filters
 * @exclude: arguments of --exclude
 * @patterns: the options are not only lists of whole names
 * @conditions: they have conditions on fields
 * @verdicts: by event type, enum filter_verdict plus 1; 0 is not known yet
 */
struct session_filter {
	struct filter **filters;
	size_t nr_filters;
	struct names exclude;
	bool patterns;
	bool conditions;
	unsigned char verdicts[SESSION_FILTER_TYPES];
};

/*
 * session_filter_add(), session_filter_exclude() - handle the argument of --filter, and of
 * --exclude. They return 0 or a negative error number; -EINVAL after a complaint.
 */
int session_filter_add(struct session_filter *filter, const char *value);
int session_filter_exclude(struct session_filter *filter, const char *value);

/* session_filter_set() - filter a stream; returns 0, or an error number after a complaint */
int session_filter_set(struct session_filter *filter, trace_id_t trid);

/*
 * session_filter_update() - hold back types that the process has opened since and that do not
 * match. Returns 0 or an error number.
 */
int session_filter_update(struct session_filter *filter, trace_id_t trid);

/*
 * session_filter_passes() - check whether to show an event that was recorded. Holds its type back
 * if it does not match. System events always pass.
 */
bool session_filter_passes(struct session_filter *filter, trace_id_t trid,
			   const struct event *event);

void session_filter_free(struct session_filter *filter);

#endif /* POSIXTRACE_SESSION_FILTER_H */
