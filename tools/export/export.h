/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the exporters of "posixtrace export": reads the events of a log one by one and writes
 * the output.
 */
#ifndef POSIXTRACE_EXPORT_H
#define POSIXTRACE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "event/formats.h"
#include "event/logend.h"
#include "event/select.h"
#include "event/source.h"
#include "util/buffer.h"
#include "util/threads.h"

#define EXPORT_TYPES		4096		/* event type ids are smaller */
#define EXPORT_THREADS		(1 << 18)	/* threads with separate tracks */
#define EXPORT_OPEN_MAX		(1 << 16)	/* open begins of all threads */
#define EXPORT_DEPTH_MAX	1024		/* open begins of a thread */
#define EXPORT_DATA_MAX		4096		/* bytes of data shown in text formats */
#define EXPORT_PAGE_EVENTS	200000		/* default of --max-events for an HTML page */

/* How an export is compressed. */
enum export_compression {
	EXPORT_PLAIN,
	EXPORT_GZIP,		/* the whole file */
	EXPORT_PACKETS,		/* Perfetto packets inside other packets */
};

struct explain;
struct snapshot;
struct spans;

/* An export of a log to another format. */
struct export {
	struct source *source;		/* the events of the log */
	const char *log;		/* name of the log */
	const char *path;		/* output file or directory; NULL: standard output */
	FILE *file;			/* open for writing, unless the output is a directory */
	const char *format_file;	/* argument of --format-file, or NULL */
	struct formats *formats;	/* contents of the format file, or NULL */
	struct selection *selection;	/* the events to export */
	enum export_compression compression;
	struct gzip *gzip;		/* for EXPORT_GZIP; export_finish() frees it */
	struct buffer compressed;	/* what is ready to be written */
	unsigned long max_events;	/* from --max-events; 0: the format's default */
	const char *scope;		/* from --scope, or NULL */
	unsigned long worst;		/* from --worst; 0: the default */
	struct explain *explain;	/* for formats that show why, or NULL */
	unsigned long machine_id;	/* from --machine-id, or 0 */
	unsigned int tables;		/* bit mask from --table; 0: all tables */
	void *sink;			/* what the writer of the tables needs, or NULL */
	struct snapshot *snapshot;	/* from export_states(), or NULL */

	uint64_t events;		/* events so far */
	uint64_t user_events;		/* user events among @events */
	uint64_t first_time;		/* time of the first event */
	uint64_t last_time;		/* the latest time of an event */
	uint64_t lost;			/* user events lost before the last event read */
	uint64_t newly_lost;		/* part of @lost since the previous event */
	struct logend end;		/* losses and damage to report at the end */
	bool progress;			/* show progress */
	bool kernel;			/* the log may contain kernel events */
};

/**
 * export_next() - read the next selected event
 * @export: the log
 * @event: where to store it; valid until the next call
 *
 * Return: 1; 0 at the end; a negative error number, -EINTR after a signal.
 */
int export_next(struct export *export, struct event *event);

/**
 * export_states() - read the states of threads at the start, if all events are exported
 * @export: the log; sets @export->snapshot, which remains NULL if not all events are exported
 *
 * Return: 0 or a negative error number.
 */
int export_states(struct export *export);

/**
 * export_start() - use the states of threads at the start, if all events are exported
 * @export: the log
 * @spans: spans of the export, before the first event
 *
 * Return: 0 or a negative error number.
 */
int export_start(struct export *export, struct spans *spans);

/* export_begin_signals() - catch signals from now on, for export_interrupted() */
void export_begin_signals(void);

/* export_obey_signal() - terminate as if the caught signal had not been caught */
void export_obey_signal(void);

/* export_end_progress() - finish the progress line, if shown */
void export_end_progress(const struct export *export);

/* export_interrupted() - return -EINTR if a signal must end the export, or 0 */
int export_interrupted(void);

/**
 * export_flush() - write the contents of a buffer and empty it
 * @export: the log
 * @buffer: output in the export format
 * @least: do nothing if the buffer has fewer bytes
 *
 * Return: 0 or a negative error number; -ENOMEM if the buffer has failed.
 */
int export_flush(struct export *export, struct buffer *buffer, size_t least);

/**
 * export_finish() - end a compressed file
 * @export: the log
 * @err: 0, or the error that ended the export: then only frees the memory
 *
 * Return: @err, or an error from writing.
 */
int export_finish(struct export *export, int err);

/**
 * export_find_thread() - find or assign the number of an event's thread
 * @export: the log
 * @threads: the threads so far
 * @event: the event
 * @number: where to store the number
 *
 * In a log with kernel events, the kernel's thread id identifies threads: pthread_self() changes at
 * exec and does not exist on some machines.
 *
 * Return: as for threads_find().
 */
int export_find_thread(const struct export *export, struct threads *threads,
		       const struct event *event, uint32_t *number);

/* export_trace_name() - get the trace name from the attributes of the log; "" if it lacks one */
void export_trace_name(const struct export *export, char *name, size_t size);

/* export_kernel_classes() - get the classes of kernel events that the stream requested */
unsigned int export_kernel_classes(const struct export *export);

/*
 * The exporters. They return 0 or a negative error number. If export.file is NULL, CTF and tables
 * create a directory at export.path.
 */
int export_ctf(struct export *export);
int export_chrome(struct export *export);
int export_perfetto(struct export *export);
int export_html(struct export *export);
int export_csv(struct export *export);
int export_jsonl(struct export *export);
int export_arrow(struct export *export);

#endif /* POSIXTRACE_EXPORT_H */
