/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the events of one log, or of one stream of this process, as struct event. Fetches a batch
 * of events per library call. Caches the names and descriptions of types. A source has one reader,
 * or several whose events merge.c puts in order.
 */
#ifndef POSIXTRACE_READER_H
#define POSIXTRACE_READER_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#include "event/event.h"

struct formats;
struct reader;

/*
 * Limits of event types: ids are smaller than READER_TYPES, descriptions fit in READER_TEXT_SIZE.
 */
#define READER_TYPES		POSIXTRACE_EVENT_ID_MAX
#define READER_TEXT_SIZE	(POSIXTRACE_DESCRIPTION_MAX + 1)

/**
 * reader_open() - open a log
 * @path: from spool_path(); must remain valid
 * @batches: counter of event batches, which several readers can share. It tells when the log may
 *	have new data about threads
 * @reader: where to store the reader
 *
 * Return: 0 or a negative error number for source_complain().
 */
int reader_open(const char *path, uint64_t *batches, struct reader **reader);

/**
 * reader_of_stream() - read an active stream
 * @trid: trace id of the stream; the caller keeps it open
 * @batches: as for reader_open()
 * @reader: where to store the reader
 *
 * Return: 0 or a negative error number.
 */
int reader_of_stream(trace_id_t trid, uint64_t *batches, struct reader **reader);

/* reader_open_again() - see source_open_again() */
int reader_open_again(struct reader *reader);

/* reader_was_cleared() - see source_was_cleared() */
bool reader_was_cleared(const struct reader *reader);

/* reader_was_copied() - see source_was_copied() */
bool reader_was_copied(const struct reader *reader);

/* reader_is_log() - check if it is a log, not a stream */
bool reader_is_log(const struct reader *reader);

/* reader_path() - get the path of a log, or NULL */
const char *reader_path(const struct reader *reader);

/* reader_trid() - get the trace id */
trace_id_t reader_trid(const struct reader *reader);

/* reader_classes() - get the classes of kernel events that were requested; returns 0 or -errno */
int reader_classes(const struct reader *reader, unsigned int *classes);

/*
 * reader_cookie() - get the cookie of a log: unique, except that copies of the log have the same
 * one
 */
uint64_t reader_cookie(const struct reader *reader);

/*
 * reader_close_file() - close the file, to free a descriptor, if reader_open_again() is not needed
 */
void reader_close_file(struct reader *reader);

/* reader_set_formats() - see source_set_formats() */
void reader_set_formats(struct reader *reader, const struct formats *formats);

/*
 * reader_find_errors() - set event.error of all later events, so that times of several hosts can be
 * compared: the maximum difference to UTC
 */
void reader_find_errors(struct reader *reader);

/**
 * reader_next() - read the next event
 * @reader: the reader
 * @event: where to store it; leaves its number, lives and source at zero
 * @flags: POSIXTRACE_NOWAIT or 0
 *
 * Return: as for source_next().
 */
int reader_next(struct reader *reader, struct event *event, int flags);

/* reader_rewind() - go to the first event */
int reader_rewind(struct reader *reader);

/* reader_seek() - see source_seek() */
int reader_seek(struct reader *reader, uint64_t time);

/*
 * reader_type_name() - get the name of an event type; if the log has none, a name made from its id
 */
const char *reader_type_name(struct reader *reader, trace_event_id_t type);

/* reader_description() - get the description of a user or kernel event type, or NULL */
struct description *reader_description(struct reader *reader, trace_event_id_t type, uint64_t time);

/* reader_text() - get the text of a description; false: the type has none */
bool reader_text(const struct reader *reader, trace_event_id_t type, char text[READER_TEXT_SIZE]);

/* reader_close() - close and free a reader; @reader may be NULL */
void reader_close(struct reader *reader);

#endif /* POSIXTRACE_READER_H */
