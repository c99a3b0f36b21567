// SPDX-License-Identifier: GPL-2.0
/*
 * The event filter of a session: see session_filter.h.
 */
#include <argz.h>
#include <errno.h>
#include <fnmatch.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>

#include "session/session_filter.h"
#include "util/message.h"

/* ------------------------------------------------------------------ */
/* Options								*/

static int check_name(const char *option, const char *name)
{
	if (strlen(name) <= TRACE_EVENT_NAME_MAX)
		return 0;
	tell("%s: the name of an event type has at most %d bytes (got %zu: \"%s\")", option,
	     TRACE_EVENT_NAME_MAX, strlen(name), name);
	return -EINVAL;
}

static void tell_of_system_event(const char *name)
{
	tell("%s: system events of the standard are always recorded", name);
}

#define NAME(id, name)	name,

/*
 * Rejects a pattern that begins like the names of system events and matches one of them. Accepts
 * patterns such as "*", which may be meant for user events.
 */
static int check_excluded(const char *pattern)
{
	static const char *const names[] = {
		POSIXTRACE_SYSTEM_TYPES(NAME)
	};
	static const char prefix[] = "posix_trace_";

	if (strncmp(pattern, prefix, strlen(prefix)) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!fnmatch(pattern, names[i], 0)) {
			tell_of_system_event(pattern);
			return -EINVAL;
		}
	}
	return 0;
}

int session_filter_add(struct session_filter *filter, const char *value)
{
	struct filter **filters, *new;
	const char *name;
	int err;

	filters = reallocarray(filter->filters, filter->nr_filters + 1, sizeof(*filters));
	if (!filters)
		return -ENOMEM;
	filter->filters = filters;
	err = filter_option(value, &new);
	if (err)
		return err;
	filters[filter->nr_filters++] = new;
	if (filter_has_durations(new)) {
		tell("--filter: a duration is known at the end of its scope: record a log");
		return -EINVAL;
	}
	filter->patterns |= !filter_plain_name(new, 0);
	filter->conditions |= filter_has_conditions(new);
	for (size_t i = 0; !err && (name = filter_plain_name(new, i)); i++)
		err = check_name("--filter", name);
	return err;
}

int session_filter_exclude(struct session_filter *filter, const char *value)
{
	struct argz *names = &filter->exclude;
	const char *name = NULL;
	int err = 0;

	if (argz_add_sep(&names->argz, &names->len, value, ','))
		return -ENOMEM;
	if (!names->len) {
		tell("--exclude: must have at least one name (got \"%s\")", value);
		return -EINVAL;
	}
	filter->patterns |= !!strpbrk(value, "*?[");
	while (!err && (name = argz_next(names->argz, names->len, name))) {
		err = check_name("--exclude", name);
		if (!err)
			err = check_excluded(name);
	}
	return err;
}

void session_filter_free(struct session_filter *filter)
{
	for (size_t i = 0; i < filter->nr_filters; i++)
		filter_free(filter->filters[i]);
	free(filter->filters);
	free(filter->exclude.argz);
}

/* ------------------------------------------------------------------ */
/* Whole names								*/

/* Finds or creates the event type with this name in the process. */
static int type_of(trace_id_t trid, const char *name, trace_event_id_t *type)
{
	int err = posix_trace_trid_eventid_open(trid, name, type);

	if (!err && *type < POSIXTRACE_SWITCH_OUT) {
		tell_of_system_event(name);
		return EINVAL;
	}
	/* If the process has too many event types, new names get the unnamed type. */
	if (!err && *type == POSIX_TRACE_UNNAMED_USEREVENT &&
	    strcmp(name, POSIXTRACE_UNNAMED_NAME))
		err = ENOSPC;
	if (err == ENOSPC)
		tell("%s: the process has too many event types", name);
	else if (err)
		complain(name, err);
	return err;
}

static int change_set(trace_id_t trid, const char *name, trace_event_set_t *set,
		      int (*change)(trace_event_id_t type, trace_event_set_t *set))
{
	trace_event_id_t type;
	int err = type_of(trid, name, &type);

	return err ? err : change(type, set);
}

static int fill_set(const struct session_filter *filter, trace_id_t trid, trace_event_set_t *set)
{
	const struct argz *exclude = &filter->exclude;
	char *excluded = NULL;
	const char *name;
	int err = 0;

	posix_trace_eventset_empty(set);
	if (filter->nr_filters) {
		/*
		 * Filter out all user types, including those that are opened later. Kernel types
		 * are selected by class, so do not filter them out.
		 */
		posix_trace_eventset_fill(set, POSIX_TRACE_ALL_EVENTS);
		for (trace_event_id_t type = 1; type < POSIX_TRACE_UNNAMED_USEREVENT; type++)
			posix_trace_eventset_del(type, set);
	}
	for (size_t i = 0; i < filter->nr_filters; i++) {
		for (size_t j = 0; !err && (name = filter_plain_name(filter->filters[i], j)); j++)
			err = change_set(trid, name, set, posix_trace_eventset_del);
	}
	while (!err && (excluded = argz_next(exclude->argz, exclude->len, excluded)))
		err = change_set(trid, excluded, set, posix_trace_eventset_add);
	return err;
}

/*
 * Sets a filter of whole names. In POSIX, a filter is the set of event types that are not recorded.
 */
static int set_names(const struct session_filter *filter, trace_id_t trid)
{
	trace_event_set_t set;
	int err = fill_set(filter, trid, &set);

	if (err)
		return err;
	err = posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	if (err)
		complain("filter", err);
	return err;
}

/* ------------------------------------------------------------------ */
/* Patterns								*/

/* Decides about a type. Kernel events are selected by class, so only --exclude applies to them. */
static enum filter_verdict judge(const struct session_filter *filter, const char *name, bool user)
{
	size_t nr_filters = user ? filter->nr_filters : 0;
	enum filter_verdict verdict = nr_filters ? FILTER_NEVER : FILTER_ALWAYS, other;
	const struct argz *exclude = &filter->exclude;
	char *excluded = NULL;

	while ((excluded = argz_next(exclude->argz, exclude->len, excluded))) {
		if (!fnmatch(excluded, name, 0))
			return FILTER_NEVER;
	}
	for (size_t i = 0; i < nr_filters; i++) {
		other = filter_name(filter->filters[i], name);
		if (other > verdict)
			verdict = other;
	}
	return verdict;
}

/* Decides about a type only once. If its events can never match, adds it to @set. */
static enum filter_verdict judge_type(struct session_filter *filter, trace_event_id_t type,
				      const char *name, trace_event_set_t *set)
{
	unsigned char *known = &filter->verdicts[type];

	if (!*known) {
		*known = judge(filter, name, type >= POSIX_TRACE_UNNAMED_USEREVENT) + 1;
		if (*known == FILTER_NEVER + 1)
			posix_trace_eventset_add(type, set);
	}
	return *known - 1;
}

int session_filter_update(struct session_filter *filter, trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	trace_event_set_t set;
	bool held = false;
	int err, none;

	if (!filter->patterns)
		return 0;
	posix_trace_eventset_empty(&set);
	/* The iteration continues after the last type that was returned before. */
	for (;;) {
		err = posix_trace_eventtypelist_getnext_id(trid, &type, &none);
		if (err || none)
			break;
		if (type < POSIXTRACE_SWITCH_OUT || type >= SESSION_FILTER_TYPES)
			continue;
		err = posix_trace_eventid_get_name(trid, type, name);
		if (err)
			break;
		held |= judge_type(filter, type, name, &set) == FILTER_NEVER;
	}
	return err || !held ? err : posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET);
}

bool session_filter_passes(struct session_filter *filter, trace_id_t trid,
			   const struct event *event)
{
	enum filter_verdict verdict;
	trace_event_set_t set;
	bool known;

	if (!filter->patterns || !event->has_data || event->type >= SESSION_FILTER_TYPES)
		return true;
	known = filter->verdicts[event->type];
	posix_trace_eventset_empty(&set);
	verdict = judge_type(filter, event->type, event->name, &set);
	/* This fails if the process has ended, but then it records no more events. */
	if (!known && verdict == FILTER_NEVER)
		posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET);
	for (size_t i = 0; verdict == FILTER_PERHAPS && i < filter->nr_filters; i++) {
		if (filter_event(filter->filters[i], event, NULL))
			return true;
	}
	return verdict == FILTER_ALWAYS;
}

int session_filter_set(struct session_filter *filter, trace_id_t trid)
{
	int err;

	if (!filter->nr_filters && !filter->exclude.len)
		return 0;
	if (!filter->patterns)
		return set_names(filter, trid);
	err = session_filter_update(filter, trid);
	if (err)
		complain("filter", err);
	return err;
}
