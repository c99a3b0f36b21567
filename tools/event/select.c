// SPDX-License-Identifier: GPL-2.0
/*
 * Selects events by type, fields, process, thread and time: see select.h.
 */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/posixtrace_log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>

#include "event/filter.h"
#include "event/select.h"
#include "util/bits.h"
#include "util/message.h"
#include "util/moment.h"
#include "util/ranges.h"

/* Event type ids are smaller than this. */
#define TYPES	POSIXTRACE_EVENT_ID_MAX

#define CPU_MAX	(POSIXTRACE_LOG_CPUS_MAX - 1)

struct names {
	char **name;
	size_t count;
};

/* The criteria, in the order in which they are tested. */
enum criterion {
	BY_TIME,
	BY_PID,
	BY_TID,
	BY_CPU,
	BY_EXCLUDE,
	BY_FILTER,
	SELECTED,	/* passed all criteria */
};

/* Cached for each event type: does --exclude match its name? */
enum verdict {
	VERDICT_NONE,
	VERDICT_IN,
	VERDICT_OUT,
};

struct selection {
	struct filter **filters;	/* an event must pass at least one of them */
	size_t nr_filters;
	struct names exclude;
	struct ranges pids;
	struct ranges threads;
	struct ranges cpus;
	struct moment from;
	struct moment to;
	bool begun;
	uint64_t first;		/* time of the first event */
	uint64_t last;		/* the latest time of an event so far */
	bool sought;		/* select_next() has skipped the events before @from */
	bool complete;		/* the log will not grow */
	bool past;		/* an event after @to was read */
	enum criterion reached;	/* the last criterion that any event has reached */
	bool recorded;		/* a user or kernel event was read */
	unsigned char verdict[TYPES];
	struct bits *selected;	/* from select_judge(): numbers of the selected events; or NULL */
};

int select_new(struct selection **selection)
{
	*selection = calloc(1, sizeof(**selection));
	return *selection ? 0 : -ENOMEM;
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
}

void select_free(struct selection *selection)
{
	if (!selection)
		return;
	for (size_t i = 0; i < selection->nr_filters; i++)
		filter_free(selection->filters[i]);
	free(selection->filters);
	free_names(&selection->exclude);
	ranges_free(&selection->pids);
	ranges_free(&selection->threads);
	ranges_free(&selection->cpus);
	bits_free(selection->selected);
	free(selection);
}

/* ------------------------------------------------------------------ */
/* Options								*/

static int refuse(const struct command_option *option, const char *text, const char *rule)
{
	tell("--%s: must be %s (got \"%s\")", option->name, rule, text);
	return -EINVAL;
}

static int add_filter(struct selection *selection, const char *text)
{
	struct filter **filters = reallocarray(selection->filters, selection->nr_filters + 1,
					       sizeof(*filters));
	int err;

	if (!filters)
		return -ENOMEM;
	selection->filters = filters;
	err = filter_option(text, &filters[selection->nr_filters]);
	selection->nr_filters += !err;
	return err;
}

static int add_name(struct names *names, const char *text, size_t len)
{
	char **name = reallocarray(names->name, names->count + 1, sizeof(*name));

	if (!name)
		return -ENOMEM;
	names->name = name;
	name[names->count] = strndup(text, len);
	if (!name[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

static int add_names(struct names *names, const struct command_option *option, const char *text)
{
	size_t len;
	int err;

	for (const char *p = text;; p += len + 1) {
		len = strcspn(p, ",");
		if (!len)
			return refuse(option, text, "names separated by single commas");
		err = add_name(names, p, len);
		if (err)
			return err;
		if (!p[len])
			return 0;
	}
}

/* The target of the options in select_options is a pointer to the selection. */
static struct selection *selection_at(void *target)
{
	return *(struct selection **)target;
}

static int call_filter(void *target, const struct command_option *option, const char *value)
{
	(void)option;
	return add_filter(selection_at(target), value);
}

static int call_exclude(void *target, const struct command_option *option, const char *value)
{
	return add_names(&selection_at(target)->exclude, option, value);
}

static int call_pid(void *target, const struct command_option *option, const char *value)
{
	return ranges_option(&selection_at(target)->pids, option, value, INT_MAX, false);
}

static int call_tid(void *target, const struct command_option *option, const char *value)
{
	return ranges_option(&selection_at(target)->threads, option, value, UINT64_MAX, false);
}

static int call_cpu(void *target, const struct command_option *option, const char *value)
{
	return ranges_option(&selection_at(target)->cpus, option, value, CPU_MAX, true);
}

static int call_from(void *target, const struct command_option *option, const char *value)
{
	return moment_option(&selection_at(target)->from, option, value);
}

static int call_to(void *target, const struct command_option *option, const char *value)
{
	return moment_option(&selection_at(target)->to, option, value);
}

const struct command_option select_options[] = {
	{ OPTION_CALL, 'C', "cpu", "CPU,...",
	  "select events that these processors recorded: 0,2-3", .call = call_cpu },
	{ OPTION_CALL, 'x', "exclude", "NAME,...",
	  "leave out events of these types; * and ? are wildcards",
	  .call = call_exclude },
	{ OPTION_CALL, 'f', "filter", "FILTER",
	  "select events by names, fields and durations: 'cache_* && op == set'",
	  .call = call_filter },
	{ OPTION_CALL, 0, "from", "TIME",
	  "select events from this time on: " MOMENT_FORMS,
	  .call = call_from },
	{ OPTION_CALL, 'p', "pid", "PID,...", "select events of these processes",
	  .call = call_pid },
	{ OPTION_CALL, 't', "tid", "TID,...", "select events of these threads",
	  .call = call_tid },
	{ OPTION_CALL, 0, "to", "TIME", "select events up to this time", .call = call_to },
	{ }
};

int select_check(const struct selection *selection)
{
	const struct moment *from = &selection->from, *to = &selection->to;

	/* A relative and an absolute time can be compared only after the first event. */
	if (!from->set || !to->set || from->absolute != to->absolute || to->time >= from->time)
		return 0;
	tell("--to: must not be before --from");
	return -ENOENT;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static bool has_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (!fnmatch(names->name[i], name, 0))
			return true;
	}
	return false;
}

/* Is the number selected? If the option was not given, all numbers are. */
static bool wants_number(const struct ranges *ranges, uint64_t number)
{
	return !ranges->count || ranges_have(ranges, number);
}

static bool wants_cpu(const struct selection *selection, const struct event *event)
{
	return !selection->cpus.count || (event->cpu != SOURCE_NO_CPU &&
					  ranges_have(&selection->cpus,
						      source_plain_cpu(event->source, event->cpu)));
}

static bool wants_type(struct selection *selection, const struct event *event)
{
	unsigned char *verdict = &selection->verdict[event->type % TYPES];

	if (*verdict == VERDICT_NONE)
		*verdict = has_name(&selection->exclude, event->name) ? VERDICT_OUT : VERDICT_IN;
	return *verdict == VERDICT_IN;
}

static bool passes_filter(const struct selection *selection, const struct event *event,
			  const struct filter_scope *scope)
{
	for (size_t i = 0; i < selection->nr_filters; i++) {
		if (filter_event(selection->filters[i], event, scope))
			return true;
	}
	return !selection->nr_filters;
}

void select_restart(struct selection *selection)
{
	for (size_t i = 0; i < selection->nr_filters; i++)
		filter_forget(selection->filters[i]);
	memset(selection->verdict, VERDICT_NONE, sizeof(selection->verdict));
	bits_free(selection->selected);
	selection->selected = NULL;
	selection->begun = false;
	selection->sought = false;
	selection->past = false;
	selection->reached = BY_TIME;
	selection->recorded = false;
}

bool select_needs_data(const struct selection *selection)
{
	for (size_t i = 0; i < selection->nr_filters; i++) {
		if (filter_has_conditions(selection->filters[i]))
			return true;
	}
	return false;
}

bool select_has_all(const struct selection *selection)
{
	return select_has_period(selection) && !selection->from.set && !selection->to.set;
}

bool select_has_period(const struct selection *selection)
{
	return !selection->nr_filters && !selection->exclude.count && !selection->pids.count &&
	       !selection->threads.count && !selection->cpus.count;
}

bool select_has_durations(const struct selection *selection)
{
	for (size_t i = 0; i < selection->nr_filters; i++) {
		if (filter_has_durations(selection->filters[i]))
			return true;
	}
	return false;
}

static int compare(const struct selection *selection, uint64_t time, const struct moment *moment)
{
	return moment_compare(moment, selection->first, time);
}

/* Is the time between --from and --to? */
static bool is_inside(const struct selection *selection, uint64_t time)
{
	return !(selection->from.set && compare(selection, time, &selection->from) < 0) &&
	       !(selection->to.set && compare(selection, time, &selection->to) > 0);
}

/*
 * Returns the first criterion that an event does not meet, or SELECTED. @inside: the event is
 * between --from and --to.
 */
static enum criterion test(struct selection *selection, const struct event *event,
			   const struct filter_scope *scope, bool inside)
{
	if (!inside)
		return BY_TIME;
	if (!wants_number(&selection->pids,
			  (uint64_t)source_plain_id(event->source, event->pid)))
		return BY_PID;
	if (!wants_number(&selection->threads, event->thread) &&
	    !wants_number(&selection->threads,
			  (uint64_t)source_plain_id(event->source, event->tid)))
		return BY_TID;
	if (!wants_cpu(selection, event))
		return BY_CPU;
	if (!wants_type(selection, event))
		return BY_EXCLUDE;
	return passes_filter(selection, event, scope) ? SELECTED : BY_FILTER;
}

static bool wants_event(struct selection *selection, const struct event *event,
			const struct filter_scope *scope, bool inside)
{
	const enum criterion met = test(selection, event, scope, inside);

	if (met > selection->reached)
		selection->reached = met;
	return met == SELECTED;
}

void select_first(struct selection *selection, const struct event *event)
{
	if (!selection->begun) {
		selection->begun = true;
		selection->first = event->time;
	}
}

/* Reads the first event, then moves to the first event that is selected. */
static int seek(struct selection *selection, struct source *source)
{
	struct event first;
	int ret = source_next(source, &first);

	if (ret <= 0)
		return ret;
	select_first(selection, &first);
	selection->last = first.time;
	ret = source_seek(source, selection->from.set ?
				  moment_time(&selection->from, selection->first) : 0);
	return ret ? ret : 1;
}

int select_next(struct selection *selection, struct source *source, struct event *event)
{
	int ret;

	/*
	 * If select_judge() is used, read the events from the start: it has numbered them in the
	 * whole log.
	 */
	if (!selection->sought && (selection->from.set || selection->to.set) &&
	    source_is_log(source) && !selection->selected) {
		ret = seek(selection, source);
		if (ret <= 0)
			return ret;
		selection->complete = source_is_complete(source);
	}
	selection->sought = true;
	if (selection->past)
		return 0;
	ret = source_next(source, event);
	if (ret <= 0)
		return ret;
	select_first(selection, event);
	if (event->time > selection->last)
		selection->last = event->time;
	/* The time of an OVERFLOW may be before the time of the previous event. */
	selection->past = selection->complete && selection->to.set &&
			  event->type != POSIX_TRACE_OVERFLOW &&
			  compare(selection, event->time, &selection->to) > 0;
	return !selection->past;
}

uint64_t select_first_time(const struct selection *selection)
{
	return selection->first;
}

void select_period(const struct selection *selection, struct moment *from, struct moment *to)
{
	*from = selection->from;
	*to = selection->to;
}

static void put_time(char text[32], uint64_t ns)
{
	snprintf(text, 32, "%llu.%09llus", (unsigned long long)(ns / NSEC_PER_SEC),
		 (unsigned long long)(ns % NSEC_PER_SEC));
}

static void complain_of_time(const struct selection *selection, const char *path)
{
	const char *option = selection->from.set ? "from" : "to";
	char last[32];

	put_time(last, selection->last - selection->first);
	if (!selection->from.set && !selection->to.set)
		tell("%s: no events", path);
	else if (selection->begun && selection->from.set && selection->to.set &&
		 moment_compare(&selection->to, selection->first,
				moment_time(&selection->from, selection->first)) > 0)
		tell("--to: must not be before --from");
	else if (!selection->begun)
		tell("--%s: %s has no events", option, path);
	else if (selection->past)
		tell("--%s: %s has no events at that time", option, path);
	else
		tell("--%s: %s has no events at that time: its last one is at %s", option, path,
		     last);
}

/* Reports that no event was selected, naming the criterion at which the selection failed. */
static void complain_of(const struct selection *selection, const char *path,
			const struct source *source)
{
	switch (selection->reached) {
	case BY_TIME:
		complain_of_time(selection, path);
		break;
	case BY_PID:
		tell("--pid: %s has no such events: posixtrace stat --by=process lists processes",
		     path);
		break;
	case BY_TID:
		tell("--tid: %s has no such events: posixtrace stat --by=thread lists threads",
		     path);
		break;
	case BY_CPU:
		tell("--cpu: %s has no such events: posixtrace dump shows the processors", path);
		break;
	case BY_EXCLUDE:
		tell("--exclude: leaves no event of %s", path);
		break;
	case BY_FILTER:
		tell("--filter: %s has no such events: posixtrace list %s shows names and fields",
		     path, source_logs(source) > 1 ? "LOG" : path);
		break;
	case SELECTED:
		break;
	}
}

/* Reports that a complete log has no events. */
static void complain_of_all(const char *path, const struct source *source)
{
	struct posixtrace_log_info info;

	if (source_get_info(source, &info) || info.lost ||
	    !(info.flags & POSIXTRACE_LOG_ENDED))
		return;
	tell("%s: no events: the program has no trace points, or did not reach one", path);
	tell("posixtrace list PROGRAM shows its points; record --kernel=sched,process needs none");
}

int select_complain(const struct selection *selection, const char *path,
		    const struct source *source)
{
	if (!select_has_all(selection)) {
		complain_of(selection, path, source);
		return selection->reached == SELECTED ? 0 : -ENOENT;
	}
	if (!selection->recorded)
		complain_of_all(path, source);
	return 0;
}

bool select_event(struct selection *selection, const struct event *event)
{
	select_first(selection, event);
	selection->recorded |= event->has_data;
	if (selection->selected)
		return bits_test(selection->selected, event->number);
	return wants_event(selection, event, NULL, is_inside(selection, event->time));
}

bool select_scope(struct selection *selection, const struct event *begin, const struct event *end,
		  const char *name)
{
	struct filter_scope scope = {
		.name = name,
		.duration = end->time > begin->time ? end->time - begin->time : 0,
		.other = end,
	};

	if (wants_event(selection, begin, &scope, true))
		return true;
	scope.other = begin;
	return wants_event(selection, end, &scope, true);
}

bool select_thread(struct selection *selection, const struct event *event)
{
	return wants_event(selection, event, NULL, true);
}

int select_judge(struct selection *selection, const struct event *event,
		 const struct filter_scope *scope)
{
	int err = selection->selected ? 0 : bits_new(&selection->selected);

	if (!err && wants_event(selection, event, scope, is_inside(selection, event->time)))
		err = bits_set(selection->selected, event->number);
	return err;
}
