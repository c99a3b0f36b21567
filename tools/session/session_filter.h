/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event filter of "live", "record" and "top", from --filter and --exclude.
 *
 * The kernel filters by event type. If the options contain only whole names, the kernel has the
 * final filter before the stream starts. Otherwise, the process may later open types that do not
 * match. Such a type is recorded until this command notices the type and adds it to the kernel's
 * filter.
 */
#ifndef POSIXTRACE_SESSION_FILTER_H
#define POSIXTRACE_SESSION_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>

#include "event/filter.h"
#include "event/source.h"

/* Event type ids are smaller. */
#define SESSION_FILTER_TYPES	POSIXTRACE_EVENT_ID_MAX

/* Names of event types from the arguments, see argz_add_sep(). */
struct argz {
	char *argz;
	size_t len;
};

/**
 * struct session_filter - which events to record; initially all zero
 * @filters: arguments of --filter; an event must pass one of them
 * @nr_filters: number of @filters
 * @exclude: arguments of --exclude
 * @patterns: the options contain more than lists of whole names
 * @conditions: the options contain conditions on fields
 * @verdicts: for each event type: enum filter_verdict plus 1; 0: not decided yet
 */
struct session_filter {
	struct filter **filters;
	size_t nr_filters;
	struct argz exclude;
	bool patterns;
	bool conditions;
	unsigned char verdicts[SESSION_FILTER_TYPES];
};

/*
 * session_filter_add(), session_filter_exclude() - handle an argument of --filter or --exclude.
 * They return 0 or a negative error number; -EINVAL after printing an error.
 */
int session_filter_add(struct session_filter *filter, const char *value);
int session_filter_exclude(struct session_filter *filter, const char *value);

/* session_filter_set() - filter a stream; returns 0, or an error number after printing an error */
int session_filter_set(struct session_filter *filter, trace_id_t trid);

/*
 * session_filter_update() - also filter out types that the process has opened since and that do not
 * match. Returns 0 or an error number.
 */
int session_filter_update(struct session_filter *filter, trace_id_t trid);

/*
 * session_filter_passes() - check if a recorded event should be shown. If its type can never match,
 * also filters out the type in the kernel. System events always pass.
 */
bool session_filter_passes(struct session_filter *filter, trace_id_t trid,
			   const struct event *event);

void session_filter_free(struct session_filter *filter);

#endif /* POSIXTRACE_SESSION_FILTER_H */
