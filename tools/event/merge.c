// SPDX-License-Identifier: GPL-2.0
/*
 * Merges the events of several logs in order of time: see merge.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "event/merge.h"
#include "util/hash.h"
#include "util/message.h"

#define FIRST_NAMED	(POSIX_TRACE_UNNAMED_USEREVENT + 1)
#define SLOTS		(2 * READER_TYPES)	/* a power of two */
#define NOBODY		SIZE_MAX

/**
 * struct stream - reading state of a stream, whose events may be in several logs
 * @left: number of logs of the stream that have more events
 * @begun: an event of the stream was returned
 * @stopped: a partial STOP was returned; further ones are not marked as partial, because each
 *	partial STOP costs the caller time
 */
struct stream {
	size_t left;
	bool begun;
	bool stopped;
};

/**
 * struct member - one of the logs
 * @reader: the reader of the log
 * @event: next event of the log
 * @types: index: type id in this log; id of the merged type, or 0: not known yet
 * @losses: see merge_losses()
 * @unscheduled: the log has no scheduler events, but another log has
 * @series: index of the first log of its series; its own index if it does not belong to a series
 * @follows: an earlier part of its series is also being merged
 * @ends: the stream continues in another log, which is not being merged
 * @stream: used in the first log of each series
 * @host: number of its host, see hosts_of()
 */
struct member {
	struct reader *reader;
	struct event event;
	uint16_t types[READER_TYPES];
	struct merge_losses losses;
	bool unscheduled;
	size_t series;
	bool follows;
	bool ends;
	struct stream stream;
	unsigned int host;
};

/* The latest time that an event of a host may have. */
struct reached {
	unsigned int host;	/* 0: none */
	uint64_t time;
};

/**
 * struct merged_type - an event type of all logs
 * @name: name of the type; NULL: the id is free
 * @text: text of the description, or ""
 * @description: from the first log that has one, or NULL
 */
struct merged_type {
	char *name;
	char *text;
	struct description *description;
};

/**
 * struct merge - several logs
 * @members: the logs
 * @count: number of logs
 * @heap: binary heap of the logs that have a next event; the one with the first event is on top
 * @waiting: number of logs in @heap
 * @filled: the next event of each log except @behind has been read
 * @behind: the log that provided the last event, whose next event has not been read yet; or NOBODY
 * @last: the latest time that any event so far may have
 * @last_other: the same for the events of all hosts except that of @last
 * @running: number of streams that have begun and not ended
 * @lost: sum of the losses of all logs, plus 1 for each missing log of a series
 * @describers: index: kernel event type; first log that describes the type, or NOBODY
 * @types: the merged types
 * @next_id: all smaller ids are taken
 * @slots: hash table of @types; entries are ids, or 0
 */
struct merge {
	struct member *members;
	size_t count;
	size_t *heap;
	size_t waiting;
	bool filled;
	size_t behind;
	struct reached last;
	struct reached last_other;
	size_t running;
	uint64_t lost;
	size_t describers[FIRST_NAMED];
	struct merged_type types[READER_TYPES];
	uint32_t next_id;
	uint16_t slots[SLOTS];
};

/* ------------------------------------------------------------------ */
/* Types								*/

static uint16_t *find_slot(struct merge *merge, const char *name, const char *text)
{
	uint64_t hash = hash_bytes(hash_bytes(0, name, strlen(name) + 1), text, strlen(text));
	const struct merged_type *type;
	uint16_t *slot;

	/* There are more slots than types, so one is free. */
	for (;; hash++) {
		slot = &merge->slots[hash % SLOTS];
		type = &merge->types[*slot];
		if (!*slot || (!strcmp(type->name, name) && !strcmp(type->text, text)))
			return slot;
	}
}

/* Returns a free id: @wanted, the id of the type in its log, if it is free. 0: all are taken. */
static uint32_t free_id(struct merge *merge, trace_event_id_t wanted)
{
	if (!merge->types[wanted].name)
		return wanted;
	while (merge->next_id < READER_TYPES && merge->types[merge->next_id].name)
		merge->next_id++;
	return merge->next_id < READER_TYPES ? merge->next_id : 0;
}

/*
 * Finds or adds the merged type for a named type of a log. Returns 0, -ENOMEM, or -E2BIG if there
 * are too many types.
 */
static int map_type(struct merge *merge, struct member *member, trace_event_id_t type)
{
	const char *name = reader_type_name(member->reader, type);
	char text[READER_TEXT_SIZE];
	struct merged_type *new;
	uint16_t *slot;
	uint32_t id;

	if (!reader_text(member->reader, type, text))
		text[0] = '\0';
	slot = find_slot(merge, name, text);
	if (!*slot) {
		id = free_id(merge, type);
		if (!id)
			return -E2BIG;
		new = &merge->types[id];
		new->name = strdup(name);
		new->text = strdup(text);
		if (!new->name || !new->text) {
			free(new->name);
			free(new->text);
			*new = (struct merged_type){ };
			return -ENOMEM;
		}
		*slot = (uint16_t)id;
	}
	member->types[type] = *slot;
	return 0;
}

static int map_types(struct merge *merge, struct member *member)
{
	const trace_id_t trid = reader_trid(member->reader);
	trace_event_id_t type;
	int none, err = 0;

	if (posix_trace_eventtypelist_rewind(trid))
		return 0;
	while (!err && !posix_trace_eventtypelist_getnext_id(trid, &type, &none) && !none) {
		if (type >= FIRST_NAMED && type < READER_TYPES)
			err = map_type(merge, member, type);
	}
	if (err == -E2BIG) {
		tell("%s: has too many event types: several logs have at most %d together",
		     reader_path(member->reader), READER_TYPES - (int)FIRST_NAMED);
		return -ECANCELED;
	}
	return err;
}

/*
 * Kernel event types have fixed ids, so their descriptions must be the same in all logs. Finds the
 * first log that has each description.
 */
static int check_kernel_types(struct merge *merge)
{
	char text[READER_TEXT_SIZE], other[READER_TEXT_SIZE];
	size_t *describer;

	for (trace_event_id_t type = POSIXTRACE_SWITCH_OUT; type < FIRST_NAMED; type++) {
		describer = &merge->describers[type];
		*describer = NOBODY;
		for (size_t i = 0; i < merge->count; i++) {
			struct reader *reader = merge->members[i].reader;

			if (!reader_text(reader, type, *describer == NOBODY ? text : other))
				continue;
			if (*describer == NOBODY) {
				*describer = i;
			} else if (strcmp(text, other) != 0) {
				tell("%s: another version of the module described %s than in %s",
				     reader_path(reader), reader_type_name(reader, type),
				     reader_path(merge->members[*describer].reader));
				return -ECANCELED;
			}
		}
	}
	return 0;
}

static void set_kernel_type(struct merge *merge, struct event *event)
{
	const size_t log = merge->describers[event->type];

	if (log != NOBODY)
		event->description = reader_description(merge->members[log].reader, event->type,
							event->time);
}

static void set_type(struct merge *merge, struct member *member, struct event *event)
{
	struct merged_type *type;
	uint16_t id;

	if (event->type < POSIXTRACE_SWITCH_OUT || event->type >= READER_TYPES)
		return;
	if (event->type < FIRST_NAMED) {
		set_kernel_type(merge, event);
		return;
	}
	/* A log that is still being written may have new types. */
	if (!member->types[event->type] && map_type(merge, member, event->type))
		member->types[event->type] = POSIX_TRACE_UNNAMED_USEREVENT;
	id = member->types[event->type];
	event->type = id;
	if (id < FIRST_NAMED || !event->description)
		return;
	type = &merge->types[id];
	if (!type->description)
		type->description = event->description;
	/*
	 * The event may come from another log. Use the same description for all events of the
	 * merged type.
	 */
	if (type->description != event->description)
		event->description = type->text[0] ? type->description : NULL;
}

/* ------------------------------------------------------------------ */
/* Order								*/

static bool is_before(const struct merge *merge, size_t a, size_t b)
{
	const uint64_t s = merge->members[a].event.time, t = merge->members[b].event.time;

	return s != t ? s < t : a < b;
}

/* Moves the log at index @at of the heap down to its place. */
static void sift_down(struct merge *merge, size_t at)
{
	const size_t log = merge->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < merge->waiting) {
		if (child + 1 < merge->waiting &&
		    is_before(merge, merge->heap[child + 1], merge->heap[child]))
			child++;
		if (is_before(merge, log, merge->heap[child]))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = log;
}

/*
 * Handles the end of a log. If the next log of its stream is missing, counts one lost event: the
 * states of its threads are unknown from there on.
 */
static void end_log(struct merge *merge, struct member *member)
{
	struct stream *stream = &merge->members[member->series].stream;

	stream->left--;
	merge->running -= stream->begun && !stream->left;
	merge->lost += member->ends;
}

/*
 * Reads the first event of each log. Losses before the first event of a stream count from the
 * start.
 */
static int fill(struct merge *merge)
{
	struct member *member;
	int ret;

	for (size_t i = 0; i < merge->count; i++) {
		member = &merge->members[i];
		ret = reader_next(member->reader, &member->event, 0);
		if (ret < 0)
			return ret;
		if (!ret) {
			end_log(merge, member);
			continue;
		}
		if (!member->follows) {
			member->losses.lost = member->event.lost;
			merge->lost += member->event.lost;
		}
		merge->heap[merge->waiting++] = i;
	}
	for (size_t i = merge->waiting / 2; i-- > 0;)
		sift_down(merge, i);
	merge->filled = true;
	return 0;
}

/* Reads the next event of the log that provided the last event. That log is on top of the heap. */
static int advance(struct merge *merge)
{
	struct member *member = &merge->members[merge->behind];
	int ret = reader_next(member->reader, &member->event, 0);

	if (ret < 0)
		return ret;
	merge->behind = NOBODY;
	if (!ret) {
		end_log(merge, member);
		merge->heap[0] = merge->heap[--merge->waiting];
	}
	if (merge->waiting)
		sift_down(merge, 0);
	return 0;
}

/* Does the event begin or end only its own stream, while other streams continue? */
static bool is_partial(const struct merge *merge, struct stream *stream, trace_event_id_t type,
		       bool first)
{
	if (merge->running <= 1)
		return false;
	if (type != POSIX_TRACE_STOP)
		return type == POSIX_TRACE_START && first;
	if (stream->stopped)
		return false;
	stream->stopped = true;
	return true;
}

static uint64_t earliest(const struct event *event)
{
	return event->time > event->error ? event->time - event->error : 0;
}

static uint64_t latest(const struct event *event)
{
	return event->time < UINT64_MAX - event->error ? event->time + event->error : UINT64_MAX;
}

/* Compares an event with those of other hosts before it. */
static void set_order(struct merge *merge, struct event *event)
{
	const struct reached *other = merge->last.host != event->host ? &merge->last :
								       &merge->last_other;
	const struct reached own = { event->host, latest(event) };

	event->unordered = other->host && other->time >= earliest(event);
	if (merge->last.host == event->host) {
		if (own.time > merge->last.time)
			merge->last = own;
	} else if (!merge->last.host || own.time > merge->last.time) {
		merge->last_other = merge->last;
		merge->last = own;
	} else if (!merge->last_other.host || own.time > merge->last_other.time) {
		merge->last_other = own;
	}
}

/* Sets what depends on the host of an event. */
static void set_host(struct merge *merge, const struct member *member, struct event *event)
{
	event->host = member->host;
	if (!event->host)
		return;
	event->pid = hosts_id(event->host, event->pid);
	event->tid = hosts_id(event->host, event->tid);
	event->cpu = hosts_cpu(event->host, event->cpu);
	set_order(merge, event);
}

int merge_next(struct merge *merge, struct event *event)
{
	struct member *member;
	struct stream *stream;
	bool first;
	int err = 0;

	if (!merge->filled)
		err = fill(merge);
	else if (merge->behind != NOBODY)
		err = advance(merge);
	if (err || !merge->waiting)
		return err;
	merge->behind = merge->heap[0];
	member = &merge->members[merge->behind];
	stream = &merge->members[member->series].stream;
	first = !stream->begun;
	stream->begun = true;
	merge->running += first;
	*event = member->event;
	member->losses.damaged += event->type == POSIX_TRACE_ERROR;
	merge->lost += event->lost - member->losses.lost;
	member->losses.lost = event->lost;
	event->lost = merge->lost;
	event->log = (uint32_t)merge->behind;
	event->series = (uint32_t)member->series;
	event->unscheduled = member->unscheduled;
	event->partial = is_partial(merge, stream, event->type, first);
	set_host(merge, member, event);
	set_type(merge, member, event);
	return 1;
}

void merge_moved(struct merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		merge->members[i].losses = (struct merge_losses){ };
		merge->members[i].stream = (struct stream){ };
	}
	for (size_t i = 0; i < merge->count; i++)
		merge->members[merge->members[i].series].stream.left++;
	merge->waiting = 0;
	merge->filled = false;
	merge->behind = NOBODY;
	merge->last = (struct reached){ };
	merge->last_other = (struct reached){ };
	merge->running = 0;
	merge->lost = 0;
}

/* ------------------------------------------------------------------ */
/* Logs									*/

/* The place of a log in a series. */
struct place {
	uint64_t series;
	unsigned int part;
	bool continued;
};

static int find_unscheduled(struct merge *merge)
{
	bool scheduled = false;
	unsigned int classes;
	int err;

	for (size_t i = 0; i < merge->count; i++) {
		err = reader_classes(merge->members[i].reader, &classes);
		if (err)
			return err;
		merge->members[i].unscheduled = !(classes & POSIXTRACE_CLASS_SCHED);
		scheduled |= classes & POSIXTRACE_CLASS_SCHED;
	}
	for (size_t i = 0; i < merge->count && !scheduled; i++)
		merge->members[i].unscheduled = false;
	return 0;
}

/* Reads the place of a log. The first log of a series may not record that others follow. */
static int read_place(const struct reader *reader, struct place *place)
{
	struct posixtrace_log_info info;
	int err = posixtrace_get_log_info(reader_trid(reader), &info);

	if (err)
		return -err;
	*place = (struct place){
		.series = info.part ? info.series : reader_cookie(reader),
		.part = info.part ? info.part : 1,
		.continued = info.flags & POSIXTRACE_LOG_CONTINUED,
	};
	return 0;
}

static void warn_of_missing(const struct merge *merge, const struct place *places, size_t log)
{
	tell("%s: part %u of a series, but part %u is missing: its events are unknown",
	     reader_path(merge->members[log].reader), places[log].part, places[log].part + 1);
}

/* Finds the other logs that belong to the same series as a log. */
static void find_series_of(struct merge *merge, const struct place *places, size_t log)
{
	struct member *member = &merge->members[log];
	bool later = false, next = false;

	member->series = log;
	for (size_t i = 0; i < merge->count; i++) {
		if (places[i].series != places[log].series || i == log)
			continue;
		if (i < member->series)
			member->series = i;
		later |= places[i].part > places[log].part;
		next |= places[i].part == places[log].part + 1;
		member->follows |= places[i].part < places[log].part;
	}
	member->ends = places[log].continued && !next;
	if (later && !next)
		warn_of_missing(merge, places, log);
}

static int find_series(struct merge *merge)
{
	struct place *places = calloc(merge->count, sizeof(*places));
	int err = places ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < merge->count; i++)
		err = read_place(merge->members[i].reader, &places[i]);
	for (size_t i = 0; !err && i < merge->count; i++)
		find_series_of(merge, places, i);
	free(places);
	return err;
}

int merge_new(struct reader *const *readers, size_t count, const struct hosts *hosts,
	      struct merge **merge)
{
	struct merge *new = calloc(1, sizeof(*new));
	int err = 0;

	if (!new)
		return -ENOMEM;
	new->count = count;
	new->next_id = FIRST_NAMED;
	new->members = calloc(count, sizeof(*new->members));
	new->heap = calloc(count, sizeof(*new->heap));
	if (!new->members || !new->heap)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		new->members[i].reader = readers[i];
		new->members[i].host = hosts_of(hosts, i);
		if (new->members[i].host)
			reader_find_errors(readers[i]);
	}
	if (!err)
		err = check_kernel_types(new);
	if (!err)
		err = find_unscheduled(new);
	if (!err)
		err = find_series(new);
	for (size_t i = 0; !err && i < count; i++)
		err = map_types(new, &new->members[i]);
	if (err) {
		merge_free(new);
		return err;
	}
	merge_moved(new);
	*merge = new;
	return 0;
}

const struct merge_losses *merge_losses(const struct merge *merge, size_t log)
{
	return &merge->members[log].losses;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < READER_TYPES; i++) {
		free(merge->types[i].name);
		free(merge->types[i].text);
	}
	free(merge->members);
	free(merge->heap);
	free(merge);
}
