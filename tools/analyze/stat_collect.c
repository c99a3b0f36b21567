// SPDX-License-Identifier: GPL-2.0
/*
 * Collects statistics of events: counts, intervals, durations. See stat.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/stat.h"
#include "event/event_names.h"

int stats_init(struct stats *stats)
{
	int err;

	memset(stats, 0, sizeof(*stats));
	err = threads_new(STAT_THREADS, &stats->threads);
	if (!err)
		err = pairs_new(STAT_OPEN_MAX, STAT_DEPTH_MAX, &stats->pairs);
	if (err)
		stats_free(stats);
	return err;
}

void stats_free(struct stats *stats)
{
	struct stat_pair *pair = stats->pair, *next;

	for (size_t i = 0; i < STAT_TYPES; i++) {
		struct stat_type *type = stats->type[i];

		if (!type)
			continue;
		histogram_free(&type->intervals);
		stat_fields_free(&type->fields);
		free(type->name);
		free(type);
	}
	for (; pair; pair = next) {
		next = pair->next;
		histogram_free(&pair->durations);
		free(pair->name);
		free(pair);
	}
	free(stats->thread);
	threads_free(stats->threads);
	pairs_free(stats->pairs);
}

/* ------------------------------------------------------------------ */
/* Types								*/

/* Finds the pair of an event type by its name with the separator: "X_" and "X:" are different. */
static int find_pair(struct stats *stats, const char *name, struct stat_pair **found)
{
	struct stat_pair *pair;
	size_t len;
	enum pairs_role role = pairs_role(name, &len);

	*found = NULL;
	if (role == PAIRS_NONE)
		return 0;
	len++;
	for (pair = stats->pair; pair; pair = pair->next) {
		if (strlen(pair->name) == len && !memcmp(pair->name, name, len))
			break;
	}
	if (!pair) {
		pair = calloc(1, sizeof(*pair));
		if (!pair)
			return -ENOMEM;
		pair->name = strndup(name, len);
		if (!pair->name) {
			free(pair);
			return -ENOMEM;
		}
		pair->next = stats->pair;
		stats->pair = pair;
	}
	pair->roles |= 1U << role;
	*found = pair;
	return 0;
}

static int find_type(struct stats *stats, const struct event *event, struct stat_type **found)
{
	struct stat_type **type = &stats->type[event->type % STAT_TYPES];
	struct stat_type *new;
	int err = 0;

	*found = *type;
	if (*type)
		return 0;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->name = strdup(event->name);
	new->user = event->user;
	if (!new->name)
		err = -ENOMEM;
	if (!err && event->user)
		err = find_pair(stats, event->name, &new->pair);
	if (err) {
		free(new->name);
		free(new);
		return err;
	}
	*type = new;
	*found = new;
	return 0;
}

static int count_type(struct stats *stats, struct stat_type *type, const struct event *event)
{
	int err = 0;

	/* Do not measure across a gap, because events may be missing there. */
	if (type->count && type->stretch == stats->stretch)
		err = histogram_add(&type->intervals,
				    event->time > type->last ? event->time - type->last : 0);
	type->count++;
	type->last = event->time;
	type->stretch = stats->stretch;
	return err;
}

/* ------------------------------------------------------------------ */
/* Threads								*/

static int count_thread(struct stats *stats, const struct event *event)
{
	size_t room = stats->threads_room ? 2 * stats->threads_room : 64;
	struct stat_thread *thread;
	uint32_t number;
	int ret = threads_find(stats->threads, event->pid, event_thread_key(event), &number);

	if (ret < 0)
		return ret;
	if (number >= stats->threads_room) {
		thread = reallocarray(stats->thread, room, sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		memset(thread + stats->threads_room, 0,
		       (room - stats->threads_room) * sizeof(*thread));
		stats->thread = thread;
		stats->threads_room = room;
	}
	if (number >= stats->nr_threads)
		stats->nr_threads = number + 1;
	thread = &stats->thread[number];
	if (!thread->count++) {
		thread->pid = source_plain_id(event->source, event->pid);
		thread->thread = event->thread;
		thread->key = event_thread_key(event);
		if (!event_thread_label(event, thread->label))
			thread->label[0] = '\0';
		thread->first = event->time;
	}
	thread->last = event->time;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Pairs								*/

static void count_no_end(struct stats *stats, const struct pairs_begin *begin)
{
	struct stat_type *type = begin ? stats->type[begin->event.type % STAT_TYPES] : NULL;

	if (type && type->pair)
		type->pair->no_end++;
}

static int count_pair(struct stats *stats, struct stat_pair *pair, const struct event *event)
{
	struct pairs_result result;
	int err = pairs_event(stats->pairs, event, &result);
	uint64_t begin;

	if (err)
		return err;
	if (result.role == PAIRS_BEGIN) {
		count_no_end(stats, result.forgotten);
	} else if (!result.begin) {
		pair->no_begin++;
	} else if (result.lost) {
		pair->doubtful++;
	} else {
		begin = result.begin->event.time;
		err = histogram_add(&pair->durations,
				    event->time > begin ? event->time - begin : 0);
	}
	return err;
}

static void forget_open(struct stats *stats)
{
	const struct pairs_begin *begin;

	while ((begin = pairs_take(stats->pairs)))
		count_no_end(stats, begin);
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Begins a new stretch if events may be missing before this one. */
static void note_gap(struct stats *stats, const struct event *event)
{
	if (event->partial)
		return;
	switch (event->type) {
	case POSIX_TRACE_RESUME:
		/*
		 * Keep open begins: pairs_result.lost shows if events between begin and end were
		 * lost.
		 */
		stats->stretch++;
		break;
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		stats->stretch++;
		forget_open(stats);
		break;
	}
}

int stats_event(struct stats *stats, const struct event *event, bool selected)
{
	struct stat_type *type;
	int err;

	if (!event->user)
		note_gap(stats, event);
	if (!selected)
		return 0;
	if (!stats->begun)
		stats->first = event->time;
	if (!stats->begun || event->time > stats->last)
		stats->last = event->time;
	stats->begun = true;
	err = find_type(stats, event, &type);
	if (!err)
		err = count_type(stats, type, event);
	if (!err && stats->with_fields)
		err = stat_fields_event(&type->fields, event);
	if (err)
		return err;
	if (!event->user) {
		stats->system++;
		return 0;
	}
	stats->user++;
	stats->truncated += event->truncated != POSIX_TRACE_NOT_TRUNCATED;
	err = count_thread(stats, event);
	if (!err && type->pair)
		err = count_pair(stats, type->pair, event);
	return err;
}

void stats_end(struct stats *stats)
{
	forget_open(stats);
}
