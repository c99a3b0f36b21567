// SPDX-License-Identifier: GPL-2.0
/*
 * Selects events by type, fields, process, thread and time: see select.h.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
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

/* Event type ids are smaller. */
#define TYPES	POSIXTRACE_EVENT_ID_MAX

struct names {
	char **name;
	size_t count;
};

struct numbers {
	uint64_t *number;
	size_t count;
};

/* Cached per event type: whether its name is excluded. */
enum verdict {
	VERDICT_NONE,
	VERDICT_IN,
	VERDICT_OUT,
};

struct selection {
	struct filter **filters;	/* an event must pass one of them */
	size_t nr_filters;
	struct names exclude;
	struct numbers pids;
	struct numbers threads;
	struct moment from;
	struct moment to;
	bool begun;
	uint64_t first;		/* time of the first event */
	uint64_t last;		/* the latest time of an event so far */
	bool sought;		/* select_next() has skipped what is before @from */
	bool complete;		/* the log will not grow */
	bool past;		/* an event after @to was read */
	bool inside;		/* an event between @from and @to was read */
	unsigned char verdict[TYPES];
	struct bits *selected;	/* numbers of events, from select_judge(), or NULL */
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
	free(selection->pids.number);
	free(selection->threads.number);
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

static int add_numbers(struct numbers *numbers, const struct command_option *option,
		       const char *text, uint64_t max)
{
	uint64_t *number;
	char *end;

	for (const char *p = text;; p = end + 1) {
		errno = 0;
		number = reallocarray(numbers->number, numbers->count + 1, sizeof(*number));
		if (!number)
			return -ENOMEM;
		numbers->number = number;
		/* Base 0, because threads are printed in hexadecimal. */
		number[numbers->count] = strtoull(p, &end, 0);
		if (errno || !isdigit((unsigned char)*p) || (*end && *end != ',') ||
		    number[numbers->count] > max)
			return refuse(option, text, max == INT_MAX ?
				      "numbers up to 2147483647, separated by commas" :
				      "numbers up to 64 bits, separated by commas");
		numbers->count++;
		if (!*end)
			return 0;
	}
}

/* The target of these options is a pointer to the selection. */
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
	return add_numbers(&selection_at(target)->pids, option, value, INT_MAX);
}

static int call_tid(void *target, const struct command_option *option, const char *value)
{
	return add_numbers(&selection_at(target)->threads, option, value, UINT64_MAX);
}

static int call_from(void *target, const struct command_option *option, const char *value)
{
	return moment_option(&selection_at(target)->from, option, value);
}

static int call_to(void *target, const struct command_option *option, const char *value)
{
	return moment_option(&selection_at(target)->to, option, value);
}

const struct command_option select_filter[] = {
	{ OPTION_CALL, 'f', "filter", "FILTER",
	  "select events by names, fields and durations: 'cache_* && op == set'",
	  .call = call_filter },
	{ }
};

static const struct command_option select_time[] = {
	{ OPTION_CALL, 0, "from", "TIME",
	  "select events from this time on: " MOMENT_FORMS,
	  .call = call_from },
	{ OPTION_CALL, 0, "to", "TIME", "select events up to this time", .call = call_to },
	{ }
};

const struct command_option select_filter_and_time[] = {
	{ OPTION_GROUP, .group = select_filter },
	{ OPTION_GROUP, .group = select_time },
	{ }
};

const struct command_option select_options[] = {
	{ OPTION_GROUP, .group = select_filter },
	{ OPTION_CALL, 'x', "exclude", "NAME,...",
	  "leave out events of these types; * and ? are wildcards",
	  .call = call_exclude },
	{ OPTION_CALL, 'p', "pid", "PID,...", "select events of these processes",
	  .call = call_pid },
	{ OPTION_CALL, 't', "tid", "TID,...", "select events of these threads",
	  .call = call_tid },
	{ OPTION_GROUP, .group = select_time },
	{ }
};

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

static bool has_number(const struct numbers *numbers, uint64_t number)
{
	for (size_t i = 0; i < numbers->count; i++) {
		if (numbers->number[i] == number)
			return true;
	}
	return !numbers->count;
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
	selection->inside = false;
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
	return !selection->nr_filters && !selection->exclude.count && !selection->pids.count &&
	       !selection->threads.count && !selection->from.set && !selection->to.set;
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

/* Is a time between --from and --to? */
static bool is_inside(const struct selection *selection, uint64_t time)
{
	return !(selection->from.set && compare(selection, time, &selection->from) < 0) &&
	       !(selection->to.set && compare(selection, time, &selection->to) > 0);
}

static bool wants_event(struct selection *selection, const struct event *event,
			const struct filter_scope *scope)
{
	return is_inside(selection, event->time) && wants_type(selection, event) &&
	       has_number(&selection->pids, (uint64_t)event->pid) &&
	       (has_number(&selection->threads, event->thread) ||
		has_number(&selection->threads, (uint64_t)event->tid)) &&
	       passes_filter(selection, event, scope);
}

void select_first(struct selection *selection, const struct event *event)
{
	if (!selection->begun) {
		selection->begun = true;
		selection->first = event->time;
	}
}

/* Read the first event, and go to the first one that is selected. */
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

	/* Durations need the events before, and were found in the whole log. */
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

int select_complain(const struct selection *selection, const char *path)
{
	const char *option = selection->from.set ? "from" : "to";
	char last[32];

	if (selection->inside || !(selection->from.set || selection->to.set))
		return 0;
	put_time(last, selection->last - selection->first);
	if (!selection->begun)
		tell("--%s: %s has no events", option, path);
	else if (selection->past)
		tell("--%s: %s has no events at that time", option, path);
	else
		tell("--%s: %s has no events at that time: its last one is at %s", option, path,
		     last);
	return -ENOENT;
}

bool select_event(struct selection *selection, const struct event *event)
{
	select_first(selection, event);
	if (is_inside(selection, event->time))
		selection->inside = true;
	if (selection->selected)
		return bits_test(selection->selected, event->number);
	return wants_event(selection, event, NULL);
}

int select_judge(struct selection *selection, const struct event *event,
		 const struct filter_scope *scope)
{
	int err = selection->selected ? 0 : bits_new(&selection->selected);

	if (!err && wants_event(selection, event, scope))
		err = bits_set(selection->selected, event->number);
	return err;
}
