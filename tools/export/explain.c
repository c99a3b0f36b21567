// SPDX-License-Identifier: GPL-2.0
/*
 * Explains the slowest instances of scopes: see explain.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdlib.h>

#include "analyze/critical.h"
#include "analyze/snapshot.h"
#include "analyze/tracks.h"
#include "export/explain.h"
#include "util/message.h"

/* An instance, and its rank among the instances of its scope. */
struct found {
	const struct instance *instance;
	const char *scope;
	size_t number;
	size_t of;
};

struct explain {
	struct instances *instances;
	struct tracks *tracks;
	struct snapshot *snapshot;	/* states of the threads at the start */
	struct found *found;
	size_t count;
};

static int find(struct explain *explain, struct export *export, uint64_t max_events)
{
	struct instances_options options = {
		.each = !export->scope,
		.scope = export->scope,
		.worst = export->worst ? export->worst : EXPLAIN_WORST,
		.selection = export->selection,
	};
	struct event event;
	uint64_t events = 0;
	int ret = 0, err;

	err = instances_new(&options, &explain->instances);
	while (!err && (ret = source_next(export->source, &event)) > 0) {
		err = export_interrupted();
		if (!err)
			err = instances_event(explain->instances, &event);
		events += event.time >= instances_from(explain->instances);
		if (max_events && events > max_events)
			break;
	}
	return err ? err : ret < 0 ? ret : 0;
}

/* Appends the @number-th longest instance of each scope that has at least @number instances. */
static void list_number(struct explain *explain, const struct export *export, size_t number)
{
	size_t count;
	const struct instances_scope *scopes = instances_scopes(explain->instances, &count);

	for (size_t i = 0; i < count; i++) {
		if (number > scopes[i].count)
			continue;
		explain->found[explain->count++] = (struct found){
			.instance = &scopes[i].worst[number - 1],
			.scope = export->scope ? export->scope : scopes[i].name,
			.number = number,
			.of = scopes[i].count,
		};
	}
}

/*
 * Lists the instances of all scopes: first the longest of each scope, then the second longest, etc.
 */
static int list(struct explain *explain, const struct export *export)
{
	struct instances_counts counts;
	const struct instances_scope *scopes;
	size_t nr_scopes, count, all = 0;

	instances_end(explain->instances, &counts, &count);
	scopes = instances_scopes(explain->instances, &nr_scopes);
	for (size_t i = 0; i < nr_scopes; i++)
		all += scopes[i].count;
	explain->found = calloc(all + 1, sizeof(*explain->found));
	if (!explain->found)
		return -ENOMEM;
	for (size_t number = 1; explain->count < all; number++)
		list_number(explain, export, number);
	return 0;
}

static int follow(struct explain *explain, struct export *export)
{
	struct window *windows = calloc(explain->count + 1, sizeof(*windows));
	struct event event;
	int ret = 0, err;

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < explain->count; i++)
		windows[i] = (struct window){ explain->found[i].instance->begin,
					      explain->found[i].instance->end };
	err = tracks_new(export_kernel_classes(export), windows, explain->count,
			 &explain->tracks);
	free(windows);
	if (!err)
		err = source_rewind(export->source);
	if (!err)
		err = snapshot_read(export->source, &explain->snapshot);
	if (!err)
		tracks_start(explain->tracks, explain->snapshot);
	while (!err && (ret = source_next(export->source, &event)) > 0) {
		err = export_interrupted();
		if (!err)
			err = tracks_event(explain->tracks, &event);
	}
	if (!err)
		err = ret;
	if (!err)
		err = tracks_end(explain->tracks);
	return err ? err : source_rewind(export->source);
}

/* Reports why a scope cannot be explained. */
static int tell_none(const struct export *export)
{
	if (!(export_kernel_classes(export) & POSIXTRACE_CLASS_SCHED))
		tell("%s: lacks the class sched: record --kernel=sched,process,syscall",
		     export->log);
	else
		tell("%s: no complete %s in this period: posixtrace stat lists the scopes",
		     export->log, export->scope);
	return -ENODATA;
}

static int run(struct explain *explain, struct export *export, uint64_t max_events)
{
	int err = find(explain, export, max_events);

	if (!err)
		err = list(explain, export);
	if (!err && !explain->count && export->scope)
		return tell_none(export);
	if (!err)
		err = follow(explain, export);
	if (!err && tracks_more(explain->tracks))
		tell("%s: too much for the memory, so parts are unknown: use --worst, --from, --to",
		     export->log);
	return err;
}

int explain_new(struct export *export, uint64_t max_events, struct explain **explain)
{
	struct explain *new;
	int err;

	*explain = NULL;
	if (!(export_kernel_classes(export) & POSIXTRACE_CLASS_SCHED))
		return export->scope ? tell_none(export) : 0;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = run(new, export, max_events);
	if (err)
		explain_free(new);
	else
		*explain = new;
	return err;
}

size_t explain_count(const struct explain *explain)
{
	return explain->count;
}

int explain_get(const struct explain *explain, size_t index, struct why *why, struct parts **parts)
{
	const struct found *found = &explain->found[index];
	const struct instance *instance = found->instance;
	int err;

	*why = (struct why){
		.tracks = explain->tracks,
		.thread = tracks_number(explain->tracks, instance->pid, instance->key),
		.scope = found->scope,
		.number = found->number,
		.of = found->of,
		.begin = instance->begin,
		.end = instance->end,
		.first = instances_first(explain->instances),
	};
	err = critical_divide(explain->tracks, why->thread, why->begin, why->end, parts);
	why->parts = *parts;
	return err;
}

void explain_free(struct explain *explain)
{
	if (!explain)
		return;
	instances_free(explain->instances);
	tracks_free(explain->tracks);
	snapshot_free(explain->snapshot);
	free(explain->found);
	free(explain);
}
