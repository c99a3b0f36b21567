// SPDX-License-Identifier: GPL-2.0
/*
 * Counts events for "posixtrace top": see model.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/histogram.h"
#include "analyze/latest.h"
#include "analyze/pairs.h"
#include "event/reader.h"
#include "top/model.h"
#include "util/threads.h"

#define OPEN_MAX	(1U << 14)	/* open begins of all threads */
#define DEPTH_MAX	1024		/* open begins of a thread */
#define THREADS_MAX	(1U << 16)	/* threads counted individually */
#define THREADS_KEPT	(1U << 14)	/* with more threads, forget_threads() forgets all */
#define CACHED		64		/* entries of the thread cache; a power of two */

struct scope {
	struct scope *next;
	struct top_row row;
	char name[PAIRS_NAME_MAX];	/* name without the separator */
	char kind;			/* the separator, because "X_" and "X:" are two scopes */
	unsigned int seen;		/* bits PAIRS_BEGIN and PAIRS_END */
	struct histogram interval;
	struct histogram total;
};

struct type {
	struct top_row row;
	char *name;
	uint64_t count;			/* number of events in the current interval */
	enum pairs_role role;
	struct scope *scope;		/* the scope that the type begins or ends, or NULL */
};

/* Event counts of a thread: in the current interval, in the last one, and in total. */
struct counts {
	uint64_t now;
	uint64_t interval;
	uint64_t total;
};

/* Cache of thread numbers, to avoid a lookup in the hash table. */
struct cached {
	uint64_t key;			/* event_thread_key() */
	pid_t pid;
	uint32_t number;		/* 0: empty */
};

struct top_model {
	struct filter *filter;
	struct type *types[READER_TYPES];
	struct scope *scopes;
	struct pairs *pairs;
	struct threads *threads;
	struct latest *latest;
	struct cached cache[CACHED];
	struct counts *counts;		/* index: number; [0]: all threads beyond the limit */
	size_t nr_threads;		/* entries used in @counts */
	size_t room;			/* entries allocated in @counts */
	bool forget;			/* call forget_threads() before the next event */
	uint64_t lost;			/* events lost so far */
	uint64_t events;		/* in the current interval */
	uint64_t interval_events;
	uint64_t total_events;
	uint64_t interval;
	uint64_t time;
};

/* ------------------------------------------------------------------ */
/* From begin to end							*/

static void free_rows(struct top_model *model)
{
	struct scope *scope, *next;

	for (size_t i = 0; i < READER_TYPES; i++) {
		if (model->types[i])
			free(model->types[i]->name);
		free(model->types[i]);
		model->types[i] = NULL;
	}
	for (scope = model->scopes; scope; scope = next) {
		next = scope->next;
		histogram_free(&scope->interval);
		histogram_free(&scope->total);
		free(scope);
	}
	model->scopes = NULL;
}

static void free_threads(struct top_model *model)
{
	threads_free(model->threads);
	model->threads = NULL;
	latest_free(model->latest);
	model->latest = NULL;
	free(model->counts);
	model->counts = NULL;
}

static int new_threads(struct top_model *model)
{
	int err = threads_new(THREADS_MAX, &model->threads);

	if (!err)
		err = latest_new(2 * THREADS_MAX, &model->latest);
	memset(model->cache, 0, sizeof(model->cache));
	model->room = 64;
	model->nr_threads = 1;
	model->forget = false;
	model->counts = calloc(model->room, sizeof(*model->counts));
	return err || model->counts ? err : -ENOMEM;
}

/* Initializes all tables, which must be empty. */
static int begin(struct top_model *model)
{
	int err = pairs_new(OPEN_MAX, DEPTH_MAX, &model->pairs);

	model->lost = 0;
	model->events = 0;
	model->interval_events = 0;
	model->total_events = 0;
	model->interval = 0;
	model->time = 0;
	return err ? err : new_threads(model);
}

int top_model_new(struct top_model **model)
{
	struct top_model *new = calloc(1, sizeof(*new));
	int err = new ? begin(new) : -ENOMEM;

	if (err)
		top_model_free(new);
	*model = err ? NULL : new;
	return err;
}

static void end(struct top_model *model)
{
	free_rows(model);
	free_threads(model);
	pairs_free(model->pairs);
	model->pairs = NULL;
}

int top_model_filter(struct top_model *model, struct filter *filter)
{
	end(model);
	filter_free(model->filter);
	model->filter = filter;
	return begin(model);
}

void top_model_free(struct top_model *model)
{
	if (!model)
		return;
	end(model);
	filter_free(model->filter);
	free(model);
}

/* ------------------------------------------------------------------ */
/* Types								*/

static int find_scope(struct top_model *model, const char *name, size_t len, struct scope **found)
{
	struct scope *scope = model->scopes;

	while (scope && (strncmp(scope->name, name, len) || scope->name[len] ||
			 scope->kind != name[len]))
		scope = scope->next;
	*found = scope;
	if (scope)
		return 0;
	scope = calloc(1, sizeof(*scope));
	if (!scope)
		return -ENOMEM;
	memcpy(scope->name, name, len);
	scope->kind = name[len];
	scope->row.name = scope->name;
	scope->next = model->scopes;
	model->scopes = scope;
	*found = scope;
	return 0;
}

static int add_type(struct top_model *model, const struct event *event, struct type **found)
{
	struct type *type = calloc(1, sizeof(*type));
	size_t len;
	int err = 0;

	if (!type)
		return -ENOMEM;
	type->name = strdup(event->name);
	type->row.name = type->name;
	if (event->user)
		type->role = pairs_role(event->name, &len);
	if (!type->name)
		err = -ENOMEM;
	else if (type->role != PAIRS_NONE)
		err = find_scope(model, event->name, len, &type->scope);
	if (err) {
		free(type->name);
		free(type);
		return err;
	}
	if (type->scope)
		type->scope->seen |= 1U << type->role;
	model->types[event->type % READER_TYPES] = type;
	*found = type;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Threads								*/

/* Finds the number of a thread that is not cached. */
static int find_thread(struct top_model *model, const struct event *event, uint64_t key,
		       uint32_t *number)
{
	struct counts *more;
	int ret = threads_find(model->threads, event->pid, key, number);

	if (ret <= 0)
		return ret;
	if (*number >= model->room) {
		more = reallocarray(model->counts, 2 * model->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		model->counts = more;
		model->room *= 2;
	}
	if (*number >= model->nr_threads) {
		model->counts[*number] = (struct counts){ };
		model->nr_threads = *number + 1;
	}
	return *number && event->tid > 0 ?
	       latest_set(model->latest, event->pid, event->tid, *number) : 0;
}

static int count_thread(struct top_model *model, const struct event *event)
{
	const uint64_t key = event_thread_key(event);
	struct cached *cached = &model->cache[(key ^ key >> 12) & (CACHED - 1)];
	int err;

	if (!cached->number || cached->key != key || cached->pid != event->pid) {
		err = find_thread(model, event, key, &cached->number);
		if (err) {
			cached->number = 0;
			return err;
		}
		cached->key = key;
		cached->pid = event->pid;
	}
	model->counts[cached->number].now++;
	return 0;
}

/*
 * Forgets all threads, because a long run may see any number of them. Live threads are added again
 * at their next event, with a total of zero.
 */
static int forget_threads(struct top_model *model)
{
	free_threads(model);
	return new_threads(model);
}

uint64_t top_model_thread(struct top_model *model, pid_t pid, pid_t tid, uint64_t *total)
{
	const uint32_t number = latest_get(model->latest, pid, tid);

	*total = 0;
	if (!number)
		return 0;
	*total = model->counts[number].total;
	return model->counts[number].interval;
}

/* ------------------------------------------------------------------ */
/* Scopes								*/

/* The ends of all open scopes may be among the lost events. */
static void note_loss(struct top_model *model, uint64_t lost)
{
	if (lost <= model->lost)
		return;
	model->lost = lost;
	for (struct scope *scope = model->scopes; scope; scope = scope->next) {
		scope->row.unmatched += scope->row.open;
		scope->row.open = 0;
	}
}

/* Counts a begin without an end, unless it was already counted. */
static void count_no_end(struct top_model *model, const struct pairs_begin *begin)
{
	const struct type *type = begin ? model->types[begin->event.type % READER_TYPES] : NULL;

	if (!type || !type->scope || begin->marked || begin->event.lost < model->lost)
		return;
	type->scope->row.unmatched++;
	type->scope->row.open--;
}

/*
 * The scopes of a thread that has ended, or executes another program, have no end. Events are read
 * in relaxed order, so the last ones of the thread may still follow.
 */
static void end_thread(struct top_model *model, const struct event *event)
{
	const uint64_t key = event_thread_key(event);
	struct pairs_begin *begin = NULL;

	while ((begin = pairs_outer(model->pairs, event->pid, key, begin))) {
		count_no_end(model, begin);
		begin->marked = true;
	}
}

static bool scope_passes(const struct top_model *model, const struct scope *scope,
			 const struct event *begin, const struct event *end, uint64_t duration)
{
	struct filter_scope about = { .name = scope->name, .duration = duration, .other = begin };

	if (!model->filter || filter_event(model->filter, end, &about))
		return true;
	about.other = end;
	return filter_event(model->filter, begin, &about);
}

static int end_scope(struct top_model *model, struct scope *scope, const struct event *event,
		     const struct pairs_result *result)
{
	const struct event *begin = result->begin ? &result->begin->event : NULL;
	uint64_t duration;

	if (!begin || result->lost) {
		/* If there is a begin, it may be of another scope. note_loss() has counted it. */
		scope->row.unmatched++;
		return 0;
	}
	if (result->begin->marked)
		scope->row.unmatched--;
	else
		scope->row.open--;
	duration = event->time > begin->time ? event->time - begin->time : 0;
	return scope_passes(model, scope, begin, event, duration) ?
	       histogram_add(&scope->interval, duration) : 0;
}

static int count_scope(struct top_model *model, const struct type *type,
		       const struct event *event)
{
	struct pairs_result result;
	int err = pairs_event(model->pairs, event, &result);

	if (err)
		return err;
	if (result.role == PAIRS_END)
		return end_scope(model, type->scope, event, &result);
	type->scope->row.open++;
	count_no_end(model, result.forgotten);
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events								*/

/*
 * Forgets open begins if events may be missing. Keeps them at a RESUME, because pairs_result.lost
 * then shows if events were lost.
 */
static int note_gap(struct top_model *model, const struct event *event)
{
	const struct pairs_begin *begin;
	struct pairs_result result;

	if (event->type == POSIXTRACE_EXIT || event->type == POSIXTRACE_EXEC)
		end_thread(model, event);
	if (event->has_data || event->partial)
		return 0;
	if (event->type == POSIX_TRACE_START || event->type == POSIX_TRACE_ERROR) {
		while ((begin = pairs_take(model->pairs)))
			count_no_end(model, begin);
	}
	return pairs_event(model->pairs, event, &result);
}

int top_model_event(struct top_model *model, const struct event *event)
{
	struct type *type = model->types[event->type % READER_TYPES];
	int err = model->forget ? forget_threads(model) : 0;

	note_loss(model, event->lost);
	if (!err && !event->user)
		err = note_gap(model, event);
	if (!err && !type)
		err = add_type(model, event, &type);
	if (!err && type->scope)
		err = count_scope(model, type, event);
	if (err || (model->filter && !filter_event(model->filter, event, NULL)))
		return err;
	type->count++;
	model->events += event->has_data;
	return event->has_data ? count_thread(model, event) : 0;
}

/* ------------------------------------------------------------------ */
/* Intervals								*/

static void set_figures(struct top_figures *figures, const struct histogram *times)
{
	*figures = (struct top_figures){ .count = times->count };
	if (!times->count)
		return;
	figures->mean = times->sum / times->count;
	figures->p50 = histogram_percentile(times, 50);
	figures->p99 = histogram_percentile(times, 99);
	figures->max = times->max;
}

static int tick_scope(struct scope *scope)
{
	int err = histogram_merge(&scope->total, &scope->interval);

	set_figures(&scope->row.interval, &scope->interval);
	if (scope->interval.count)
		set_figures(&scope->row.total, &scope->total);
	histogram_clear(&scope->interval);
	return err;
}

int top_model_tick(struct top_model *model, uint64_t ns)
{
	struct counts *counts;
	struct type *type;
	int err = 0;

	model->interval = ns;
	model->time += ns;
	model->interval_events = model->events;
	model->total_events += model->events;
	model->events = 0;
	for (size_t i = 0; i < READER_TYPES; i++) {
		type = model->types[i];
		if (!type)
			continue;
		type->row.interval.count = type->count;
		type->row.total.count += type->count;
		type->count = 0;
	}
	for (struct scope *scope = model->scopes; !err && scope; scope = scope->next)
		err = tick_scope(scope);
	for (size_t i = 0; i < model->nr_threads; i++) {
		counts = &model->counts[i];
		counts->interval = counts->now;
		counts->total += counts->now;
		counts->now = 0;
	}
	model->forget = model->nr_threads > THREADS_KEPT;
	return err;
}

uint64_t top_model_interval(const struct top_model *model)
{
	return model->interval;
}

uint64_t top_model_time(const struct top_model *model)
{
	return model->time;
}

void top_model_events(const struct top_model *model, uint64_t *interval, uint64_t *total)
{
	*interval = model->interval_events;
	*total = model->total_events;
}

/* ------------------------------------------------------------------ */
/* Rows									*/

static uint64_t sort_key(const struct top_row *row, enum top_order order)
{
	switch (order) {
	case TOP_BY_COUNT:
		return row->interval.count;
	case TOP_BY_MEAN:
		return row->interval.mean;
	case TOP_BY_P50:
		return row->interval.p50;
	case TOP_BY_P99:
		return row->interval.p99;
	case TOP_BY_MAX:
		return row->interval.max;
	case TOP_BY_TOTAL:
		return row->total.count;
	default:
		return 0;
	}
}

/*
 * Compares rows by the wanted figure of the last interval. Rows without it are sorted by their
 * total.
 */
static int compare(const void *a, const void *b, void *arg)
{
	const struct top_row *x = *(struct top_row *const *)a, *y = *(struct top_row *const *)b;
	const enum top_order order = *(enum top_order *)arg;
	uint64_t left = sort_key(x, order), right = sort_key(y, order);

	if (left != right)
		return left < right ? 1 : -1;
	if (order != TOP_BY_NAME && x->total.count != y->total.count)
		return x->total.count < y->total.count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Collects the scopes, except those with only begins or only ends. */
static size_t collect_scopes(const struct top_model *model, const struct top_row **rows)
{
	size_t count = 0;

	for (const struct scope *scope = model->scopes; scope; scope = scope->next) {
		if (scope->seen != (1U << PAIRS_BEGIN | 1U << PAIRS_END))
			continue;
		if (rows)
			rows[count] = &scope->row;
		count++;
	}
	return count;
}

static size_t collect_types(const struct top_model *model, const struct top_row **rows)
{
	size_t count = 0;

	for (size_t i = 0; i < READER_TYPES; i++) {
		if (!model->types[i] || !model->types[i]->row.total.count)
			continue;
		if (rows)
			rows[count] = &model->types[i]->row;
		count++;
	}
	return count;
}

const struct top_row **top_model_rows(const struct top_model *model, enum top_table table,
				      enum top_order order, bool reverse, size_t *count)
{
	size_t (*collect)(const struct top_model *model, const struct top_row **rows) =
		table == TOP_SCOPES ? collect_scopes : collect_types;
	const struct top_row **rows, *row;

	*count = collect(model, NULL);
	rows = calloc(*count + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	collect(model, rows);
	qsort_r(rows, *count, sizeof(*rows), compare, &order);
	for (size_t i = 0; reverse && i < *count / 2; i++) {
		row = rows[i];
		rows[i] = rows[*count - 1 - i];
		rows[*count - 1 - i] = row;
	}
	return rows;
}
