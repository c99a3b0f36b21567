// SPDX-License-Identifier: GPL-2.0
/*
 * Finds instances of a scope: see instances.h. pairs.c and calls.c keep each begin or entry until
 * its end comes. Limits on their number bound the memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/calls.h"
#include "analyze/instances.h"
#include "analyze/pairs.h"
#include "util/hash.h"
#include "util/threads.h"

#define OPEN_MAX	(1U << 16)	/* open begins of all threads */
#define DEPTH_MAX	1024		/* open begins of a thread */
#define THREADS_MAX	(1U << 16)	/* threads with system calls */
#define TABLE		(2 * INSTANCES_SCOPES)

struct instances {
	struct instances_options options;
	struct pairs *pairs;
	struct calls *calls;
	struct threads *threads;
	uint64_t stretch;		/* incremented by a gap, damage or a stop */
	bool begun;
	uint64_t first;			/* first and last time of the log */
	uint64_t last;
	bool has_from;			/* the options have a start and an end of the period */
	bool has_to;
	uint64_t from;
	uint64_t to;
	struct instances_scope *scopes;
	size_t nr_scopes;
	uint16_t table[TABLE];		/* hash table of names: index in @scopes plus one, or 0 */
};

static int add_scope(struct instances *instances, const char *name, size_t len)
{
	struct instances_scope *scope = &instances->scopes[instances->nr_scopes];

	scope->worst = calloc(instances->options.worst + 1, sizeof(*scope->worst));
	if (!scope->worst)
		return -ENOMEM;
	memcpy(scope->name, name, len < sizeof(scope->name) ? len : sizeof(scope->name) - 1);
	instances->nr_scopes++;
	return 0;
}

int instances_new(const struct instances_options *options, struct instances **instances)
{
	struct instances *new = calloc(1, sizeof(*new));
	int err;

	*instances = NULL;
	if (!new)
		return -ENOMEM;
	new->options = *options;
	new->scopes = calloc(options->each ? INSTANCES_SCOPES : 1, sizeof(*new->scopes));
	err = new->scopes ? 0 : -ENOMEM;
	if (!err && !options->each)
		err = add_scope(new, "", 0);
	if (!err)
		err = pairs_new(OPEN_MAX, DEPTH_MAX, &new->pairs);
	if (!err)
		err = calls_new(THREADS_MAX, &new->calls);
	if (!err)
		err = threads_new(THREADS_MAX, &new->threads);
	if (err)
		instances_free(new);
	else
		*instances = new;
	return err;
}

/* ------------------------------------------------------------------ */
/* Scopes								*/

/* Finds or adds a scope, for instances_options.each. */
static int find_any(struct instances *instances, const char *name, size_t len,
		    struct instances_scope **scope)
{
	size_t at = hash_bytes(0, name, len) % TABLE;
	int err;

	for (; instances->table[at]; at = (at + 1) % TABLE) {
		*scope = &instances->scopes[instances->table[at] - 1];
		if (strlen((*scope)->name) == len && !memcmp((*scope)->name, name, len))
			return 0;
	}
	*scope = NULL;
	if (instances->nr_scopes == INSTANCES_SCOPES || len >= PAIRS_NAME_MAX)
		return 0;
	err = add_scope(instances, name, len);
	if (err)
		return err;
	instances->table[at] = (uint16_t)instances->nr_scopes;
	*scope = &instances->scopes[instances->nr_scopes - 1];
	return 0;
}

/* Finds the scope with a name; NULL if the options ask for a different scope. */
static int find_scope(struct instances *instances, const char *name, size_t len,
		      struct instances_scope **scope)
{
	const char *wanted = instances->options.scope;

	if (instances->options.each)
		return find_any(instances, name, len, scope);
	*scope = strlen(wanted) == len && !memcmp(wanted, name, len) ? instances->scopes : NULL;
	return 0;
}

/* Is an instance selected? If only one end is known, @begin and @end are the same event. */
static bool is_selected(const struct instances *instances, const struct event *begin,
			const struct event *end, const char *name)
{
	return select_scope(instances->options.selection, begin, end, name);
}

static void add(struct instances *instances, struct instances_scope *scope,
		const struct event *begin, const struct event *end, const char *name)
{
	const struct instance new = {
		.pid = begin->pid,
		.key = event_thread_key(begin),
		.begin = begin->time,
		.end = end->time > begin->time ? end->time : begin->time,
	};
	size_t i = scope->count;

	if (new.begin < instances->from || new.end > instances->to ||
	    !is_selected(instances, begin, end, name))
		return;
	scope->counts.all++;
	for (; i > 0; i--) {
		const struct instance *before = &scope->worst[i - 1];

		if (before->end - before->begin >= new.end - new.begin)
			break;
		scope->worst[i] = *before;
	}
	/* The array has one extra entry: if the list is full, the shortest instance moves there. */
	scope->worst[i] = new;
	if (scope->count < instances->options.worst)
		scope->count++;
}

/* Counts a begin without an end. */
static int count_begin(struct instances *instances, const struct pairs_begin *begin)
{
	struct instances_scope *scope;
	int err = find_scope(instances, begin->stem, strlen(begin->stem), &scope);

	if (!err && scope)
		scope->counts.unmatched += is_selected(instances, &begin->event, &begin->event,
						       begin->stem);
	return err;
}

static int forget_open(struct instances *instances)
{
	const struct pairs_begin *begin;
	int err = 0;

	while (!err && (begin = pairs_take(instances->pairs)))
		err = count_begin(instances, begin);
	return err;
}

static int see_user(struct instances *instances, const struct event *event)
{
	struct instances_scope *scope;
	struct pairs_result result;
	size_t len;
	int err;

	if (pairs_role(event->name, &len) == PAIRS_NONE)
		return 0;
	err = find_scope(instances, event->name, len, &scope);
	if (err || !scope)
		return err;
	err = pairs_event(instances->pairs, event, &result);
	if (err)
		return err;
	if (result.role == PAIRS_BEGIN)
		return result.forgotten ? count_begin(instances, result.forgotten) : 0;
	if (!result.begin)
		scope->counts.unmatched += is_selected(instances, event, event, scope->name);
	else if (result.lost)
		scope->counts.doubtful += is_selected(instances, &result.begin->event, event,
						      result.begin->stem);
	else
		add(instances, scope, &result.begin->event, event, result.begin->stem);
	return 0;
}

/*
 * Counts a call. If it spans a gap or a stop, its entry and exit may belong to different calls, so
 * it counts as doubtful. @end: the exit of the call, or NULL if it is missing.
 */
static int see_call(struct instances *instances, const struct call *call, const struct event *end)
{
	struct instances_scope *scope;
	int err = find_scope(instances, call->name, strlen(call->name), &scope);

	if (err || !scope)
		return err;
	if (!end)
		scope->counts.unmatched += is_selected(instances, &call->entry, &call->entry,
						       call->name);
	else if (call->lost || call->mark != instances->stretch)
		scope->counts.doubtful += is_selected(instances, &call->entry, end, call->name);
	else
		add(instances, scope, &call->entry, end, call->name);
	return 0;
}

static int see_kernel(struct instances *instances, const struct event *event)
{
	const struct call *ended;
	struct kevent kevent;
	uint32_t thread;
	int err;

	if (!event_is_kernel(event) || !event->tid || !kevent_read(event, &kevent))
		return 0;
	err = threads_find(instances->threads, event->pid, event_thread_key(event), &thread);
	if (err < 0 || !thread)
		return err < 0 ? err : 0;
	err = calls_event(instances->calls, thread, event, &kevent, instances->stretch, &ended);
	if (err < 0)
		return err;
	return ended ? see_call(instances, ended, ended->finished ? event : NULL) : 0;
}

/* ------------------------------------------------------------------ */
/* Lives								*/

/*
 * Finds the life of a thread id: of the first thread with that id that has events after the start
 * of the period, or else of the last thread with that id.
 */
static void see_life(struct instances *instances, const struct event *event)
{
	struct instances_scope *scope = instances->scopes;
	struct instance *life = scope->worst;
	bool other = !scope->count || life->pid != event->pid ||
		     life->key != event_thread_key(event);

	if (!event->tid || !event->has_data)
		return;
	if (!other) {
		life->end = event->time > life->end ? event->time : life->end;
	} else if (event->time <= instances->to &&
		   (!scope->count || life->end < instances->from) &&
		   select_thread(instances->options.selection, event)) {
		scope->count = 1;
		*life = (struct instance){ .pid = event->pid, .key = event_thread_key(event),
					   .begin = event->time, .end = event->time };
	}
}

/*
 * Replaces the life of the thread by the period of the options. The period may be longer than the
 * life, but is cut at the end of the log.
 */
static void cut_life(struct instances *instances)
{
	struct instances_scope *scope = instances->scopes;
	struct instance *life = scope->worst;

	if (!scope->count)
		return;
	if (instances->has_from)
		life->begin = instances->from;
	if (instances->has_to)
		life->end = instances->to < instances->last ? instances->to : instances->last;
	if (life->end < life->begin)
		life->end = life->begin;
	/* The period begins after the end of the log, so nothing is known about it. */
	if (life->begin > instances->last)
		scope->count = 0;
	scope->counts.all = scope->count;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static bool is_for_scopes(const struct instances *instances)
{
	return instances->options.each || instances->options.scope;
}

static int note_gap(struct instances *instances, const struct event *event)
{
	if (event->partial)
		return 0;
	switch (event->type) {
	case POSIX_TRACE_RESUME:
		/*
		 * Keep open begins: call.lost and pairs_result.lost show if events between both
		 * ends were lost.
		 */
		instances->stretch++;
		break;
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		instances->stretch++;
		return is_for_scopes(instances) ? forget_open(instances) : 0;
	}
	return 0;
}

static void see_first(struct instances *instances, uint64_t time)
{
	struct moment from, to;

	select_period(instances->options.selection, &from, &to);
	instances->has_from = from.set;
	instances->has_to = to.set;
	instances->first = time;
	/*
	 * Some events may be older than the first one. Leave out periods that begin before the
	 * first.
	 */
	instances->from = time;
	if (from.set && moment_time(&from, time) > time)
		instances->from = moment_time(&from, time);
	instances->to = to.set ? moment_time(&to, time) : UINT64_MAX;
}

int instances_event(struct instances *instances, const struct event *event)
{
	int err = 0;

	if (!instances->begun)
		see_first(instances, event->time);
	if (!instances->begun || event->time > instances->last)
		instances->last = event->time;
	instances->begun = true;
	if (!event->user)
		err = note_gap(instances, event);
	if (err)
		return err;
	if (!is_for_scopes(instances)) {
		see_life(instances, event);
		return 0;
	}
	return event->user ? see_user(instances, event) : see_kernel(instances, event);
}

const struct instance *instances_end(struct instances *instances, struct instances_counts *counts,
				     size_t *count)
{
	const struct call *call;

	/* Ignore errors: if out of memory, only the counts of open begins are incomplete. */
	if (is_for_scopes(instances)) {
		forget_open(instances);
		while ((call = calls_take(instances->calls, instances->last, 0)))
			see_call(instances, call, NULL);
	} else {
		cut_life(instances);
	}
	*counts = instances->nr_scopes ? instances->scopes->counts : (struct instances_counts){ };
	*count = instances->nr_scopes ? instances->scopes->count : 0;
	return instances->nr_scopes ? instances->scopes->worst : NULL;
}

const struct instances_scope *instances_scopes(const struct instances *instances, size_t *count)
{
	*count = instances->nr_scopes;
	return instances->scopes;
}

uint64_t instances_first(const struct instances *instances)
{
	return instances->first;
}

uint64_t instances_from(const struct instances *instances)
{
	return instances->from;
}

void instances_free(struct instances *instances)
{
	if (!instances)
		return;
	pairs_free(instances->pairs);
	calls_free(instances->calls);
	threads_free(instances->threads);
	for (size_t i = 0; i < instances->nr_scopes; i++)
		free(instances->scopes[i].worst);
	free(instances->scopes);
	free(instances);
}
