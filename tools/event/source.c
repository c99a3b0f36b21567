// SPDX-License-Identifier: GPL-2.0
/*
 * Reads events for the commands: fetches a batch per library call, and caches type names and
 * descriptions.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/posixtrace_log.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

#include "event/formats.h"
#include "event/live_names.h"
#include "event/lives.h"
#include "event/source.h"
#include "event/spool.h"
#include "util/message.h"

#define BATCH		256
/* Bytes of the buffer for a batch: any single event fits. */
#define BUFFER_SIZE	(256U << 10)
/* All event type ids are smaller. */
#define TYPES		POSIXTRACE_EVENT_ID_MAX
#define NAME_SIZE	(TRACE_EVENT_NAME_MAX + 1)
#define TEXT_SIZE	(POSIXTRACE_DESCRIPTION_MAX + 1)

/* Cached facts about an event type. */
struct type {
	char *name;		/* or NULL */
	struct description *description;	/* or NULL */
	struct description *own;	/* the same, if it is not from a format file */
	bool wrong;		/* the source's description is invalid */
	bool asked;		/* the source had no description at @asked_at */
	uint64_t asked_at;	/* time of the event at the last lookup */
};

/**
 * struct source - a log or stream to read events from
 * @trid: trace id of the log or stream
 * @is_log: @trid is a log, which source_close() closes
 * @fd: file of the log, or -1
 * @copied: @fd is a copy of a pipe or compressed file
 * @cookie: cookie of the log; another log in the same file has a different one
 * @names: whether thread names may be known
 * @count: number of events in the batch
 * @next: index of the next event
 * @batches: number of batches so far
 * @number: number of events so far, since the last rewind
 * @lives: identifies threads and processes
 * @formats: descriptions from a format file, or NULL
 * @types: cached facts about event types
 * @live_names: thread names of an active stream; NULL for a log
 * @other_name: name of a type that is not cached
 * @events: the batch
 * @buffer: data of the events
 */
struct source {
	trace_id_t trid;
	bool is_log;
	int fd;
	bool copied;
	uint64_t cookie;
	enum { NAMES_UNKNOWN, NAMES_NO, NAMES_YES } names;
	size_t count;
	size_t next;
	uint64_t batches;
	uint64_t number;
	struct lives *lives;
	const struct formats *formats;
	struct type types[TYPES];
	struct live_names *live_names;
	char other_name[NAME_SIZE];
	struct posixtrace_batch_event events[BATCH];
	unsigned char buffer[BUFFER_SIZE] __attribute__((aligned(8)));
};

static int new_source(struct source **source)
{
	*source = calloc(1, sizeof(**source));
	if (!*source)
		return -ENOMEM;
	(*source)->fd = -1;
	return 0;
}

static bool read_cookie(int fd, uint64_t *cookie)
{
	return pread(fd, cookie, sizeof(*cookie), offsetof(struct posixtrace_log_header, cookie)) ==
	       sizeof(*cookie);
}

/*
 * Opens a log and gets its cookie, which must be the same before and after: the log may be cleared
 * at any time.
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

const char *source_path(const char *operand)
{
	return spool_path(operand);
}

bool source_is_stdin(const char *path)
{
	return spool_is_stdin(path);
}

static int open_log(struct source *source, const char *path)
{
	int err, fd = spool_open(path, &source->copied);

	if (fd < 0)
		return fd;
	err = open_trace(fd, &source->cookie, &source->trid);
	if (err)
		close(fd);
	else
		source->fd = fd;
	return -err;
}

int source_open_log(const char *path, struct source **source)
{
	int err = new_source(source);

	if (err)
		return err;
	err = open_log(*source, path);
	if (err) {
		free(*source);
		*source = NULL;
		return err;
	}
	(*source)->is_log = true;
	err = lives_new((*source)->trid, &(*source)->lives);
	if (err) {
		source_close(*source);
		*source = NULL;
	}
	return err;
}

bool source_was_copied(const struct source *source)
{
	return source->copied;
}

bool source_was_cleared(const struct source *source)
{
	uint64_t cookie;

	return read_cookie(source->fd, &cookie) && cookie != source->cookie;
}

static void forget_types(struct source *source)
{
	for (size_t i = 0; i < TYPES; i++) {
		free(source->types[i].name);
		description_free(source->types[i].own);
	}
	memset(source->types, 0, sizeof(source->types));
}

int source_open_again(struct source *source)
{
	struct lives *lives;
	uint64_t cookie;
	trace_id_t trid;
	int err = open_trace(source->fd, &cookie, &trid);

	if (err)
		return -err;
	err = lives_new(trid, &lives);
	if (err) {
		posix_trace_close(trid);
		return err;
	}
	lives_free(source->lives);
	source->lives = lives;
	posix_trace_close(source->trid);
	source->trid = trid;
	source->cookie = cookie;
	source->names = NAMES_UNKNOWN;
	source->count = 0;
	source->next = 0;
	forget_types(source);
	return 0;
}

/* Returns the version of a log in native byte order; 0 if the file is not such a log. */
static unsigned int log_version(const char *path)
{
	struct posixtrace_log_header header = {};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return 0;
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.magic, POSIXTRACE_LOG_MAGIC, sizeof(header.magic)) ||
	    header.order != POSIXTRACE_LOG_ORDER)
		header.version = 0;
	close(fd);
	return header.version;
}

static void complain_of_log(const char *path)
{
	unsigned int version = log_version(path);

	if (version && version != POSIXTRACE_LOG_VERSION)
		tell("%s: a log of version %u; this command reads version %u", path, version,
		     POSIXTRACE_LOG_VERSION);
	else
		tell("%s: not a trace log, or its first 512 bytes are missing or damaged", path);
}

void source_complain(const char *path, int err)
{
	switch (-err) {
	case EINVAL:
		complain_of_log(path);
		break;
	case EOPNOTSUPP:
		tell("%s: has parts that only a later version of posixtrace can read", path);
		break;
	case ESPIPE:
		tell("%s: not a file or pipe", path);
		break;
	case ECANCELED:
		break;
	default:
		complain(path, -err);
	}
}

int source_from_stream(trace_id_t trid, struct source **source)
{
	int err = new_source(source);

	if (err)
		return err;
	err = lives_new(trid, &(*source)->lives);
	if (err) {
		free(*source);
		*source = NULL;
		return err;
	}
	(*source)->trid = trid;
	(*source)->live_names = live_names_new(trid);
	if (!(*source)->live_names) {
		source_close(*source);
		*source = NULL;
		return -ENOMEM;
	}
	return 0;
}

const char *source_type_name(struct source *source, trace_event_id_t type)
{
	char name[NAME_SIZE];
	char **known = NULL;

	if (type < TYPES)
		known = &source->types[type].name;
	if (known && *known)
		return *known;
	/* Cache that a type has no name, as well: a log names a type before its events. */
	if (posix_trace_eventid_get_name(source->trid, type, name))
		snprintf(name, sizeof(name), "(type %u)", (unsigned int)type);
	if (known)
		*known = strdup(name);
	if (known && *known)
		return *known;
	strcpy(source->other_name, name);
	return source->other_name;
}

void source_set_formats(struct source *source, const struct formats *formats)
{
	source->formats = formats;
}

bool source_has_names(struct source *source)
{
	struct posixtrace_host_info info;

	/* The first block of a log tells if it has names, so one lookup is enough. */
	if (source->names == NAMES_UNKNOWN)
		source->names = !source->is_log || !posixtrace_get_host(source->trid, &info) ?
				NAMES_YES : NAMES_NO;
	return source->names == NAMES_YES;
}

static bool ask_name(struct source *source, const struct event *event, char *name)
{
	const struct timespec time = {
		.tv_sec = (time_t)(event->time / NSEC_PER_SEC),
		.tv_nsec = (long)(event->time % NSEC_PER_SEC),
	};

	return !posixtrace_get_thread_name(source->trid, event->pid, event->tid, &time, name);
}

bool source_thread_name(struct source *source, const struct event *event,
			char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	const char *renamed = lives_name(source->lives, event);

	if (renamed) {
		strcpy(name, renamed);
		return true;
	}
	if (source->live_names)
		return live_names_get(source->live_names, event, source->batches, name);
	return ask_name(source, event, name);
}

uint64_t source_life_end(struct source *source, const struct event *event, bool process)
{
	/* For an active stream, only the current names are known. */
	return source->is_log ? lives_end(source->lives, event, process) : event->time;
}

bool source_is_log(const struct source *source)
{
	return source->is_log;
}

static bool read_text(struct source *source, trace_event_id_t type, char text[TEXT_SIZE])
{
	return !posixtrace_eventid_get_description(source->trid, type, text, TEXT_SIZE, NULL);
}

/* Sets @known->wrong if the description exists but cannot be parsed. */
static struct description *read_description(struct source *source, trace_event_id_t type,
					    struct type *known)
{
	char text[TEXT_SIZE], again[TEXT_SIZE];
	struct description *description;
	int err;

	if (!read_text(source, type, text))
		return NULL;
	err = description_new(text, &description, NULL);
	if (!err)
		return description;
	/* If the writer of a LOOP log overwrote the text during the parse, retry later. */
	known->wrong = err != -ENOMEM && read_text(source, type, again) && !strcmp(text, again);
	return NULL;
}

struct description *source_description(struct source *source, trace_event_id_t type,
				       uint64_t time)
{
	struct type *known;

	if (type < POSIXTRACE_SWITCH_OUT || type >= TYPES)
		return NULL;
	known = &source->types[type];
	/* The description of a type cannot change: if it is wrong, do not parse it again. */
	if (known->description || known->wrong ||
	    (known->asked && time - known->asked_at < NSEC_PER_SEC))
		return known->description;
	known->description = formats_find(source->formats, source_type_name(source, type));
	if (!known->description) {
		known->description = read_description(source, type, known);
		known->own = known->description;
	}
	known->asked = true;
	known->asked_at = time;
	return known->description;
}

/* Converts a library event to struct event. */
static void set_event(struct source *source, const struct posixtrace_batch_event *from,
		      struct event *event)
{
	const struct posix_trace_event_info *info = &from->event;

	*event = (struct event){
		.time = (uint64_t)info->posix_timestamp.tv_sec * NSEC_PER_SEC +
			(uint64_t)info->posix_timestamp.tv_nsec,
		.type = info->posix_event_id,
		.name = source_type_name(source, info->posix_event_id),
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
	event->source = source;
	event->description = source_description(source, event->type, event->time);
}

static int next_event(struct source *source, struct event *event, int flags)
{
	const struct posixtrace_batch_event *from;
	int err;

	if (source->next == source->count) {
		source->next = 0;
		source->count = 0;
		err = posixtrace_getevents(source->trid, source->events, BATCH, source->buffer,
					   sizeof(source->buffer), &source->count, flags);
		if (err) {
			source->count = 0;
			return -err;
		}
		if (!source->count)
			return 0;
		source->batches++;
	}
	from = &source->events[source->next++];
	set_event(source, from, event);
	event->number = ++source->number;
	err = source_identify(source, event);
	return err ? err : 1;
}

int source_identify(struct source *source, struct event *event)
{
	return lives_event(source->lives, event, source->is_log && source_has_names(source) ?
			   source->batches : 0);
}

int source_next(struct source *source, struct event *event)
{
	return next_event(source, event, 0);
}

int source_try(struct source *source, struct event *event)
{
	return next_event(source, event, POSIXTRACE_NOWAIT);
}

/* Goes to the first event, or to @time. */
static int go_to(struct source *source, const struct timespec *time)
{
	struct lives *lives;
	int err = lives_new(source->trid, &lives);

	if (err)
		return err;
	err = time ? posixtrace_seek(source->trid, time) : posix_trace_rewind(source->trid);
	if (err) {
		lives_free(lives);
		return -err;
	}
	lives_free(source->lives);
	source->lives = lives;
	source->next = 0;
	source->count = 0;
	source->number = 0;
	return 0;
}

int source_rewind(struct source *source)
{
	return go_to(source, NULL);
}

int source_seek(struct source *source, uint64_t time)
{
	const struct timespec at = {
		.tv_sec = (time_t)(time / NSEC_PER_SEC),
		.tv_nsec = (long)(time % NSEC_PER_SEC),
	};

	return go_to(source, &at);
}

bool source_is_complete(const struct source *source)
{
	struct posixtrace_log_info info;

	return !posixtrace_get_log_info(source->trid, &info) && info.flags & POSIXTRACE_LOG_ENDED;
}

trace_id_t source_trid(const struct source *source)
{
	return source->trid;
}

uint64_t source_read_bytes(const struct source *source)
{
	struct posixtrace_log_info info;

	return posixtrace_get_log_info(source->trid, &info) ? 0 : info.read;
}

uint64_t source_total_bytes(const struct source *source)
{
	struct posixtrace_log_info info;

	return posixtrace_get_log_info(source->trid, &info) ? 0 : info.size;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	if (source->is_log)
		posix_trace_close(source->trid);
	if (source->fd >= 0)
		close(source->fd);
	forget_types(source);
	lives_free(source->lives);
	live_names_free(source->live_names);
	free(source);
}
