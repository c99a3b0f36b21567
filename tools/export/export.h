/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the exporters of "posixtrace export" share: reading the events of a log one by one, and
 * writing the output.
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

#define EXPORT_TYPES		4096		/* all event type ids are smaller */
#define EXPORT_THREADS		(1 << 18)	/* threads with a track of their own */
#define EXPORT_OPEN_MAX		(1 << 16)	/* begins without an end so far, of all threads */
#define EXPORT_DEPTH_MAX	1024		/* begins without an end so far, of one thread */
#define EXPORT_DATA_MAX		4096		/* bytes of data that text formats show */

/* A log on its way to another format. */
struct export {
	struct source *source;		/* of the log's events */
	const char *log;		/* name of the log */
	const char *path;		/* output file or directory; NULL: standard output */
	FILE *file;			/* open for writing, unless the output is a directory */
	const char *format_file;	/* argument of --format-file, or NULL */
	struct formats *formats;	/* contents of the format file, or NULL */
	struct selection *selection;	/* the events to export */
	unsigned long max_events;	/* argument of --max-events; 0: default of the format */

	uint64_t events;		/* events so far */
	uint64_t user_events;		/* user events among @events */
	uint64_t first_time;		/* time of the first of them */
	uint64_t last_time;		/* the latest of them */
	uint64_t lost;			/* user events lost before the last event read */
	uint64_t newly_lost;		/* part of @lost since the previous event */
	struct logend end;		/* what to report about the log at the end */
	bool progress;			/* show progress */
	bool kernel;			/* the log may have events of the kernel */
};

/**
 * export_next() - read the next event that is selected
 * @export: the log
 * @event: where to store it; valid until the next call
 *
 * Return: 1; 0 at the end; a negative error number, -EINTR after a signal.
 */
int export_next(struct export *export, struct event *event);

/* export_begin_signals() - take signals from now on, so that export_interrupted() sees them */
void export_begin_signals(void);

/* export_obey_signal() - end as the signal would have ended the command */
void export_obey_signal(void);

/* export_end_progress() - complete the line that shows the progress, if there is one */
void export_end_progress(const struct export *export);

/* export_interrupted() - returns -EINTR if a signal has to end the export, 0 otherwise */
int export_interrupted(void);

/**
 * export_flush() - write the contents of a buffer, and empty it
 * @export: the log
 * @buffer: output in the format
 * @least: write nothing if the buffer has fewer bytes
 *
 * Return: 0, or a negative error number; -ENOMEM if the buffer has failed.
 */
int export_flush(struct export *export, struct buffer *buffer, size_t least);

/**
 * export_find_thread() - find or assign the number of an event's thread
 * @export: the log
 * @threads: the threads so far
 * @event: the event
 * @number: where to store the number
 *
 * In a log with events of the kernel, the id of the kernel tells threads apart: the value of
 * pthread_self() changes when the process executes a program, and there is none on some machines.
 *
 * Return: as threads_find().
 */
int export_find_thread(const struct export *export, struct threads *threads,
		       const struct event *event, uint32_t *number);

/* export_trace_name() - get the trace name from the log's attributes; "" if there is none */
void export_trace_name(const struct export *export, char *name, size_t size);

/* export_kernel_classes() - get the classes of the kernel's events that the stream asked for */
unsigned int export_kernel_classes(const struct export *export);

/* The exporters. They return 0 or a negative error number. CTF makes a directory at @path. */
int export_ctf(struct export *export);
int export_chrome(struct export *export);
int export_perfetto(struct export *export);
int export_html(struct export *export);

#endif /* POSIXTRACE_EXPORT_H */
