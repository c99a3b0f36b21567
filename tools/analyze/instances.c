// SPDX-License-Identifier: GPL-2.0
/*
 * Finds instances of a scope: see instances.h. Begins wait in pairs.c and calls.c until their ends
 * come, so the memory is bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/calls.h"
#include "analyze/instances.h"
#include "analyze/pairs.h"
#include "util/threads.h"

#define OPEN_MAX	(1U << 16)	/* open begins, all threads */
#define DEPTH_MAX	1024		/* open begins, per thread */
#define THREADS_MAX	(1U << 16)	/* threads with system calls */

struct instances {
	struct instances_options options;
	struct pairs *pairs;
	struct calls *calls;
	struct threads *threads;
	uint64_t stretch;		/* incremented by a gap, damage or a stop */
	bool begun;
	uint64_t first;			/* of the log */
	uint64_t last;
	uint64_t from;			/* of the period that was asked for */
	uint64_t to;
	struct instances_counts counts;
	struct instance *worst;		/* longest first */
	size_t count;
};

int instances_new(const struct instances_options *options, struct instances **instances)
{
	struct instances *new = calloc(1, sizeof(*new));
	int err;

	*instances = NULL;
	if (!new)
		return -ENOMEM;
	new->options = *options;
	new->worst = calloc(options->worst + 1, sizeof(*new->worst));
	err = new->worst ? pairs_new(OPEN_MAX, DEPTH_MAX, &new->pairs) : -ENOMEM;
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

static bool is_scope(const struct instances *instances, const char *name, size_t len)
{
	return strlen(instances->options.scope) == len &&
	       !memcmp(instances->options.scope, name, len);
}

static bool is_thread(const struct instances *instances, pid_t tid)
{
	return !instances->options.tid || instances->options.tid == tid;
}

static void add(struct instances *instances, const struct event *begin, uint64_t end)
{
	const struct instance new = {
		.pid = begin->pid,
		.key = event_thread_key(begin),
		.begin = begin->time,
		.end = end > begin->time ? end : begin->time,
	};
	size_t i = instances->count;

	if (!is_thread(instances, begin->tid) || new.begin < instances->from ||
	    new.end > instances->to)
		return;
	instances->counts.all++;
	for (; i > 0; i--) {
		const struct instance *before = &instances->worst[i - 1];

		if (before->end - before->begin >= new.end - new.begin)
			break;
		instances->worst[i] = *before;
	}
	/* The array has one entry more, for the one that falls out. */
	instances->worst[i] = new;
	if (instances->count < instances->options.worst)
		instances->count++;
}

static void forget_open(struct instances *instances)
{
	const struct pairs_begin *begin;

	while ((begin = pairs_take(instances->pairs)))
		instances->counts.unmatched += is_scope(instances, begin->stem,
							strlen(begin->stem)) &&
					       is_thread(instances, begin->event.tid);
}

static int see_user(struct instances *instances, const struct event *event)
{
	struct pairs_result result;
	size_t len;
	int err;

	if (pairs_role(event->name, &len) == PAIRS_NONE || !is_scope(instances, event->name, len) ||
	    !is_thread(instances, event->tid))
		return 0;
	err = pairs_event(instances->pairs, event, &result);
	if (err)
		return err;
	if (result.role == PAIRS_BEGIN)
		instances->counts.unmatched += !!result.forgotten;
	else if (!result.begin)
		instances->counts.unmatched++;
	else if (result.lost)
		instances->counts.doubtful++;
	else
		add(instances, &result.begin->event, event->time);
	return 0;
}

/* Only a complete call counts; one over a gap or a stop may be two. */
static void see_call(struct instances *instances, const struct call *call)
{
	if (!is_scope(instances, call->name, strlen(call->name)) ||
	    !is_thread(instances, call->entry.tid))
		return;
	if (!call->finished)
		instances->counts.unmatched++;
	else if (call->lost || call->mark != instances->stretch)
		instances->counts.doubtful++;
	else
		add(instances, &call->entry, call->end);
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
	if (err >= 0 && ended)
		see_call(instances, ended);
	return err < 0 ? err : 0;
}

/* ------------------------------------------------------------------ */
/* Lives								*/

/* Finds the first thread with the id that has events after the begin of the period, or the last. */
static void see_life(struct instances *instances, const struct event *event)
{
	struct instance *life = instances->worst;
	bool other = !instances->count || life->pid != event->pid ||
		     life->key != event_thread_key(event);

	if (!event->tid || !event->has_data || !is_thread(instances, event->tid))
		return;
	if (!other) {
		life->end = event->time > life->end ? event->time : life->end;
	} else if (event->time <= instances->to &&
		   (!instances->count || life->end < instances->from)) {
		instances->count = 1;
		*life = (struct instance){ .pid = event->pid, .key = event_thread_key(event),
					   .begin = event->time, .end = event->time };
	}
}

/* Makes it the period that was asked for, which may be longer than the life, but not the log. */
static void cut_life(struct instances *instances)
{
	struct instance *life = instances->worst;

	if (!instances->count)
		return;
	if (instances->options.from.set)
		life->begin = instances->from;
	if (instances->options.to.set)
		life->end = instances->to < instances->last ? instances->to : instances->last;
	if (life->end < life->begin)
		life->end = life->begin;
	/* Nothing is known of the time after the log. */
	if (life->begin > instances->last)
		instances->count = 0;
	instances->counts.all = instances->count;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static void note_gap(struct instances *instances, const struct event *event)
{
	switch (event->type) {
	case POSIX_TRACE_RESUME:
		/* Keep open begins: the next events tell how many were lost. */
		instances->stretch++;
		break;
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		instances->stretch++;
		if (instances->options.scope)
			forget_open(instances);
		break;
	}
}

static void see_first(struct instances *instances, uint64_t time)
{
	const struct instances_options *options = &instances->options;

	instances->first = time;
	/* An event may be older than the first one, and a period that begins there is left out. */
	instances->from = time;
	if (options->from.set && moment_time(&options->from, time) > time)
		instances->from = moment_time(&options->from, time);
	instances->to = options->to.set ? moment_time(&options->to, time) : UINT64_MAX;
}

int instances_event(struct instances *instances, const struct event *event)
{
	if (!instances->begun)
		see_first(instances, event->time);
	if (!instances->begun || event->time > instances->last)
		instances->last = event->time;
	instances->begun = true;
	if (!event->user)
		note_gap(instances, event);
	if (!instances->options.scope) {
		see_life(instances, event);
		return 0;
	}
	return event->user ? see_user(instances, event) : see_kernel(instances, event);
}

const struct instance *instances_end(struct instances *instances, struct instances_counts *counts,
				     size_t *count)
{
	const struct call *call;

	if (instances->options.scope) {
		forget_open(instances);
		while ((call = calls_take(instances->calls, instances->last, 0)))
			see_call(instances, call);
	} else {
		cut_life(instances);
	}
	*counts = instances->counts;
	*count = instances->count;
	return instances->worst;
}

uint64_t instances_first(const struct instances *instances)
{
	return instances->first;
}

void instances_free(struct instances *instances)
{
	if (!instances)
		return;
	pairs_free(instances->pairs);
	calls_free(instances->calls);
	threads_free(instances->threads);
	free(instances->worst);
	free(instances);
}
