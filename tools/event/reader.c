// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the events of one log or stream: see reader.h.
 */
#include <errno.h>
#include <linux/posixtrace_log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/formats.h"
#include "event/reader.h"
#include "event/spool.h"

#define BATCH		256
/* Bytes of the buffer for a batch. Large enough for any single event. */
#define BUFFER_SIZE	(256U << 10)
#define NAME_SIZE	(TRACE_EVENT_NAME_MAX + 1)

/* Cached facts about an event type. */
struct type {
	char *name;		/* or NULL */
	struct description *description;	/* or NULL */
	struct description *own;	/* @description, unless from a format file */
	bool wrong;		/* the description in the log or stream is invalid */
	bool asked;		/* the log or stream had no description at @asked_at */
	uint64_t asked_at;	/* time of the event at the last lookup */
};

/**
 * struct reader - a log or stream to read events from
 * @trid: trace id of the log or stream
 * @path: path of the log; NULL: a stream, which reader_close() does not close
 * @fd: file of the log, or -1
 * @copied: @fd is a copy of a pipe or compressed file
 * @cookie: identifies the log; if the file is reused for another log, that has a different cookie
 * @count: number of events in the batch
 * @next: index of the next event
 * @batches: batch counter, which all readers of a source share
 * @formats: descriptions from a format file, or NULL
 * @types: cached facts about event types
 * @other_name: name of a type that is not cached
 * @events: the batch
 * @finds_errors: find the errors of the times
 * @errors: error of the time of each event in the batch
 * @buffer: data of the events
 */
struct reader {
	trace_id_t trid;
	const char *path;
	int fd;
	bool copied;
	uint64_t cookie;
	size_t count;
	size_t next;
	uint64_t *batches;
	const struct formats *formats;
	struct type types[READER_TYPES];
	char other_name[NAME_SIZE];
	struct posixtrace_batch_event events[BATCH];
	bool finds_errors;
	uint64_t errors[BATCH];
	unsigned char buffer[BUFFER_SIZE] __attribute__((aligned(8)));
};

/* ------------------------------------------------------------------ */
/* Logs and streams							*/

static bool read_cookie(int fd, uint64_t *cookie)
{
	return pread(fd, cookie, sizeof(*cookie), offsetof(struct posixtrace_log_header, cookie)) ==
	       sizeof(*cookie);
}

/*
 * Opens a log and gets its cookie. The log may be cleared at any time, so the cookie must be the
 * same before and after the open.
 */
static int open_trace(int fd, uint64_t *cookie, trace_id_t *trid)
{
	uint64_t before;
	int err;

	for (;;) {
		if (!read_cookie(fd, &before))
			before = 0;
		err = posix_trace_open(fd, trid);
		if (err)
			return err;
		if (read_cookie(fd, cookie) && *cookie == before)
			return 0;
		posix_trace_close(*trid);
	}
}

static int open_log(struct reader *reader, const char *path)
{
	int err, fd = spool_open(path, &reader->copied);

	if (fd < 0)
		return fd;
	err = open_trace(fd, &reader->cookie, &reader->trid);
	if (err) {
		close(fd);
		return -err;
	}
	reader->fd = fd;
	reader->path = path;
	return 0;
}

int reader_open(const char *path, uint64_t *batches, struct reader **reader)
{
	struct reader *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->batches = batches;
	err = open_log(new, path);
	if (err)
		free(new);
	else
		*reader = new;
	return err;
}

int reader_of_stream(trace_id_t trid, uint64_t *batches, struct reader **reader)
{
	*reader = calloc(1, sizeof(**reader));
	if (!*reader)
		return -ENOMEM;
	(*reader)->trid = trid;
	(*reader)->batches = batches;
	(*reader)->fd = -1;
	return 0;
}

static void forget_types(struct reader *reader)
{
	for (size_t i = 0; i < READER_TYPES; i++) {
		free(reader->types[i].name);
		description_free(reader->types[i].own);
	}
	memset(reader->types, 0, sizeof(reader->types));
}

int reader_open_again(struct reader *reader)
{
	uint64_t cookie;
	trace_id_t trid;
	int err = open_trace(reader->fd, &cookie, &trid);

	if (err)
		return -err;
	posix_trace_close(reader->trid);
	reader->trid = trid;
	reader->cookie = cookie;
	reader->count = 0;
	reader->next = 0;
	forget_types(reader);
	return 0;
}

bool reader_was_cleared(const struct reader *reader)
{
	uint64_t cookie;

	return read_cookie(reader->fd, &cookie) && cookie != reader->cookie;
}

bool reader_was_copied(const struct reader *reader)
{
	return reader->copied;
}

bool reader_is_log(const struct reader *reader)
{
	return reader->path;
}

const char *reader_path(const struct reader *reader)
{
	return reader->path;
}

trace_id_t reader_trid(const struct reader *reader)
{
	return reader->trid;
}

int reader_classes(const struct reader *reader, unsigned int *classes)
{
	trace_attr_t attr;
	int err = posix_trace_get_attr(reader->trid, &attr);

	*classes = 0;
	if (err)
		return -err;
	posixtrace_attr_getkernel(&attr, classes);
	posix_trace_attr_destroy(&attr);
	return 0;
}

uint64_t reader_cookie(const struct reader *reader)
{
	return reader->cookie;
}

void reader_close_file(struct reader *reader)
{
	close(reader->fd);
	reader->fd = -1;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->path)
		posix_trace_close(reader->trid);
	if (reader->fd >= 0)
		close(reader->fd);
	forget_types(reader);
	free(reader);
}

/* ------------------------------------------------------------------ */
/* Event types								*/

const char *reader_type_name(struct reader *reader, trace_event_id_t type)
{
	char name[NAME_SIZE];
	char **known = NULL;

	if (type < READER_TYPES)
		known = &reader->types[type].name;
	if (known && *known)
		return *known;
	/*
	 * Cache the result even if there is no name: a log names each type before its first event.
	 */
	if (posix_trace_eventid_get_name(reader->trid, type, name))
		snprintf(name, sizeof(name), "(type %u)", (unsigned int)type);
	if (known)
		*known = strdup(name);
	if (known && *known)
		return *known;
	strcpy(reader->other_name, name);
	return reader->other_name;
}

void reader_set_formats(struct reader *reader, const struct formats *formats)
{
	reader->formats = formats;
}

bool reader_text(const struct reader *reader, trace_event_id_t type, char text[READER_TEXT_SIZE])
{
	return !posixtrace_eventid_get_description(reader->trid, type, text, READER_TEXT_SIZE,
						   NULL);
}

/* Reads the description of a type. Sets @known->wrong if the description cannot be parsed. */
static struct description *read_description(struct reader *reader, trace_event_id_t type,
					    struct type *known)
{
	char text[READER_TEXT_SIZE], again[READER_TEXT_SIZE];
	struct description *description;
	int err;

	if (!reader_text(reader, type, text))
		return NULL;
	err = description_new(text, &description, NULL);
	if (!err)
		return description;
	/*
	 * If the text is different now, the writer of a LOOP log has overwritten it: retry later.
	 */
	known->wrong = err != -ENOMEM && reader_text(reader, type, again) && !strcmp(text, again);
	return NULL;
}

struct description *reader_description(struct reader *reader, trace_event_id_t type, uint64_t time)
{
	struct type *known;

	if (type < POSIXTRACE_SWITCH_OUT || type >= READER_TYPES)
		return NULL;
	known = &reader->types[type];
	/* The description of a type never changes, so a wrong one need not be parsed again. */
	if (known->description || known->wrong ||
	    (known->asked && time - known->asked_at < NSEC_PER_SEC))
		return known->description;
	known->description = formats_find(reader->formats, reader_type_name(reader, type));
	if (!known->description) {
		known->description = read_description(reader, type, known);
		known->own = known->description;
	}
	known->asked = true;
	known->asked_at = time;
	return known->description;
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Inline version of reader_type_name() for names that are cached. */
static inline const char *type_name(struct reader *reader, trace_event_id_t type)
{
	if (type < READER_TYPES && reader->types[type].name)
		return reader->types[type].name;
	return reader_type_name(reader, type);
}

/*
 * Inline version of reader_description() for types whose description is cached or known to be
 * missing.
 */
static inline struct description *describe(struct reader *reader, trace_event_id_t type,
					   uint64_t time)
{
	const struct type *known;

	if (type < POSIXTRACE_SWITCH_OUT || type >= READER_TYPES)
		return NULL;
	known = &reader->types[type];
	if (known->description || (known->asked && time - known->asked_at < NSEC_PER_SEC))
		return known->description;
	return reader_description(reader, type, time);
}

static uint64_t time_of(const struct posixtrace_batch_event *event)
{
	return (uint64_t)event->event.posix_timestamp.tv_sec * NSEC_PER_SEC +
	       (uint64_t)event->event.posix_timestamp.tv_nsec;
}

/* Returns the maximum difference between a time and UTC. */
static uint64_t error_of(uint64_t time, const struct posixtrace_clock_time *utc)
{
	const uint64_t value = (uint64_t)utc->value;
	const uint64_t difference = value > time ? value - time : time - value;

	if (utc->error == POSIXTRACE_CLOCK_UNKNOWN || utc->value < 0 ||
	    difference > EVENT_ERROR_UNKNOWN - utc->error)
		return EVENT_ERROR_UNKNOWN;
	return difference + utc->error;
}

/*
 * Finds the errors of the times in the batch. The clock of the events usually is CLOCK_REALTIME. If
 * it is ahead, because CLOCK_REALTIME was set back, the difference is part of the error: so times
 * need not be changed, and still order the events of the host.
 */
static int find_errors(struct reader *reader)
{
	struct posixtrace_clock_time utc[BATCH];
	uint64_t times[BATCH];
	int err;

	for (size_t i = 0; i < reader->count; i++)
		times[i] = time_of(&reader->events[i]);
	err = posixtrace_convert_times(reader->trid, POSIXTRACE_CLOCKID_UTC, times, reader->count,
				       utc);
	/* Without pairs of clocks, no time can be compared. */
	if (err && err != ENOENT)
		return -err;
	for (size_t i = 0; i < reader->count; i++)
		reader->errors[i] = err ? EVENT_ERROR_UNKNOWN : error_of(times[i], &utc[i]);
	return 0;
}

void reader_find_errors(struct reader *reader)
{
	reader->finds_errors = true;
}

/* Converts a library event to struct event. */
static void set_event(struct reader *reader, const struct posixtrace_batch_event *from,
		      struct event *event)
{
	const struct posix_trace_event_info *info = &from->event;

	*event = (struct event){
		.time = time_of(from),
		.type = info->posix_event_id,
		.name = type_name(reader, info->posix_event_id),
		.pid = info->posix_pid,
		.thread = (uint64_t)info->posix_thread_id,
		.tid = from->tid,
		.address = (uintptr_t)info->posix_prog_address,
		.cpu = from->cpu,
		.user = info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT,
		.has_data = info->posix_event_id >= POSIXTRACE_SWITCH_OUT,
		.truncated = info->posix_truncation_status,
		.late = from->flags & POSIXTRACE_EVENT_LATE,
		.lost = from->lost,
		.data = from->data,
		.len = from->data_len,
	};
	event->description = describe(reader, event->type, event->time);
}

int reader_next(struct reader *reader, struct event *event, int flags)
{
	int err;

	if (reader->next == reader->count) {
		reader->next = 0;
		reader->count = 0;
		err = posixtrace_getevents(reader->trid, reader->events, BATCH, reader->buffer,
					   sizeof(reader->buffer), &reader->count, flags);
		if (err) {
			reader->count = 0;
			return -err;
		}
		if (!reader->count)
			return 0;
		++*reader->batches;
		err = reader->finds_errors ? find_errors(reader) : 0;
		if (err) {
			reader->count = 0;
			return err;
		}
	}
	set_event(reader, &reader->events[reader->next], event);
	event->error = reader->errors[reader->next++];
	return 1;
}

/* Drops the current batch, because the position in the log has changed. */
static int moved(struct reader *reader, int err)
{
	if (err)
		return -err;
	reader->next = 0;
	reader->count = 0;
	return 0;
}

int reader_rewind(struct reader *reader)
{
	return moved(reader, posix_trace_rewind(reader->trid));
}

int reader_seek(struct reader *reader, uint64_t time)
{
	const struct timespec at = {
		.tv_sec = (time_t)(time / NSEC_PER_SEC),
		.tv_nsec = (long)(time % NSEC_PER_SEC),
	};

	return moved(reader, posixtrace_seek(reader->trid, &at));
}
