/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the exporters of "posixtrace export" share: the events of a log, one after the other,
 * and where to write.
 */
#ifndef POSIXTRACE_EXPORT_H
#define POSIXTRACE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "buffer.h"
#include "layout.h"
#include "logend.h"
#include "source.h"

#define EXPORT_TYPES		4096	/* ids of event types are below */
#define EXPORT_THREADS		(1 << 18)	/* that get a track of their own */
#define EXPORT_OPEN_MAX		(1 << 16)	/* begins that wait for their ends */
#define EXPORT_DEPTH_MAX	1024	/* of one thread */
#define EXPORT_DATA_MAX		4096	/* bytes of data shown of one event, where not all are */

/**
 * struct export - a log on its way to another format
 * @source: where events come from
 * @log: name of the log
 * @path: what to write, or NULL: the standard output
 * @file: open for writing, if the format is one file
 * @format_file: of --format-file, or NULL
 * @layouts: what is in there, or NULL
 * @max_events: of --max-events; 0 is what the format thinks best
 * @events: events read so far
 * @user_events: of these, those of the user
 * @first_time: time of the first
 * @lost: user events lost before the last event that was read
 * @newly_lost: of these, those since the event before
 * @end: what is to be said of the log at the end
 * @known: by event type, whether @layout_of has been looked up
 * @layout_of: by event type
 * @progress: show it
 */
struct export {
	struct source *source;
	const char *log;
	const char *path;
	FILE *file;
	const char *format_file;
	struct layouts *layouts;
	uint64_t max_events;

	uint64_t events;
	uint64_t user_events;
	uint64_t first_time;
	uint64_t lost;
	uint64_t newly_lost;
	struct logend end;
	bool known[EXPORT_TYPES];
	struct layout *layout_of[EXPORT_TYPES];
	bool progress;
};

/**
 * export_next() - the next event
 * @export: the log
 * @event: where to put it, good until the next call
 *
 * Return: 1, 0 at the end, a negative error number.
 */
int export_next(struct export *export, struct event *event);

/**
 * export_layout() - the fields of an event's data
 * @export: the log
 * @event: of it
 *
 * Return: the fields, or NULL if these are not known, or its data are not like that.
 */
const struct layout *export_layout(struct export *export, const struct event *event);

/**
 * export_flush() - write what is in a buffer, and empty it
 * @export: the log
 * @buffer: of text or whatever the format is
 * @least: write nothing as long as it has less bytes
 *
 * Return: 0, or a negative error number; -ENOMEM if the buffer has failed.
 */
int export_flush(struct export *export, struct buffer *buffer, size_t least);

/* export_trace_name() - of the log's attributes; "" if there is none */
void export_trace_name(const struct export *export, char *name, size_t size);

/*
 * The exporters: 0 or a negative error number. That of CTF makes a folder at @export->path.
 */
int export_ctf(struct export *export);
int export_chrome(struct export *export);
int export_perfetto(struct export *export);
int export_html(struct export *export);

#endif /* POSIXTRACE_EXPORT_H */
