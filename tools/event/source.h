/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the events of a log, or of a stream of this process, one by one and in order, in memory
 * that does not grow with their number.
 */
#ifndef POSIXTRACE_SOURCE_H
#define POSIXTRACE_SOURCE_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"

struct formats;
struct source;

/**
 * source_open_log() - open a log to read its events
 * @path: path of the file
 * @source: where to store the source
 *
 * Return: 0 or a negative error number, which source_complain() explains.
 */
int source_open_log(const char *path, struct source **source);

/**
 * source_was_cleared() - check whether the file has another log now
 * @source: a log
 *
 * posix_trace_clear() of a stream begins the log in its file anew. False if the file has no header
 * at this moment.
 */
bool source_was_cleared(const struct source *source);

/**
 * source_open_again() - go on with the log that is in the file now, from its first event
 * @source: a log
 *
 * Return: 0; a negative error number, then @source has not changed. -EINVAL: the header may not be
 *	complete yet.
 */
int source_open_again(struct source *source);

/**
 * source_complain() - print on standard error why a log could not be opened
 * @path: path of the file
 * @err: what source_open_log() returned
 */
void source_complain(const char *path, int err);

/**
 * source_from_stream() - read the events of a stream
 * @trid: trace id of an active stream without log; the caller keeps it open
 * @source: where to store the source
 *
 * Return: 0 or a negative error number.
 */
int source_from_stream(trace_id_t trid, struct source **source);

/**
 * source_set_formats() - describe event types by a format file
 * @source: the source
 * @formats: contents of the file, which the caller keeps, or NULL
 *
 * They win over the descriptions that the traced process gave. Call it before the first event.
 */
void source_set_formats(struct source *source, const struct formats *formats);

/* source_is_log() - check whether events come from a log, not from a stream */
bool source_is_log(const struct source *source);

/**
 * source_next() - read the next event
 * @source: the source
 * @event: where to store it
 *
 * Waits for an event of a stream. At the end of a log that is still being written, a later call
 * may find more events.
 *
 * Return: 1; 0 at the end; a negative error number, -EINTR after a signal handler.
 */
int source_next(struct source *source, struct event *event);

/**
 * source_try() - read the next event without waiting
 * @source: the source
 * @event: where to store it
 *
 * Return: as source_next(), but 0 instead of waiting.
 */
int source_try(struct source *source, struct event *event);

/**
 * source_life_end() - get the last time at which there may be names of the thread of an event
 * @source: the source
 * @event: an event
 * @process: of its process, not of the thread
 *
 * Return: see lives_end().
 */
uint64_t source_life_end(struct source *source, const struct event *event, bool process);

/**
 * source_thread_name() - the name of the thread that recorded an event
 * @source: the source, which has names
 * @event: an event with a kernel thread id
 * @name: where to store it
 *
 * Of an active stream, the name that the thread had within the last second: asking for each event
 * would cost more than the event.
 *
 * Return: true if the name is known.
 */
bool source_thread_name(struct source *source, const struct event *event,
			char name[POSIXTRACE_THREAD_NAME_SIZE]);

/**
 * source_has_names() - check whether names of threads may be known
 * @source: the source
 *
 * Return: true for a stream, and for a log that says where it was written.
 */
bool source_has_names(struct source *source);

/**
 * source_rewind() - go back to the first event of a log
 * @source: the source
 *
 * Return: 0 or a negative error number.
 */
int source_rewind(struct source *source);

/**
 * source_type_name() - get the name of an event type
 * @source: the source
 * @type: any number
 *
 * Return: the name, or "(type N)" if it has none; valid as long as @source.
 */
const char *source_type_name(struct source *source, trace_event_id_t type);

/**
 * source_description() - get the description of a user event type, or of one of the kernel
 * @source: the source
 * @type: any number
 * @time: time of an event of the type
 *
 * Descriptions that are wrong do not count, and are parsed once only: a type cannot get another.
 * The process may describe a type after its first events: this function asks for a missing
 * description again, but once in a second of @time only.
 *
 * Return: the description, valid as long as @source, or NULL.
 */
struct description *source_description(struct source *source, trace_event_id_t type,
				       uint64_t time);

/**
 * source_trid() - get the trace id, for attributes, status or event types
 * @source: the source
 *
 * Return: the trace id.
 */
trace_id_t source_trid(const struct source *source);

/**
 * source_read_bytes() - get the approximate number of bytes read, to show progress
 * @source: the source
 *
 * It inspects the file, so it is too slow to call for each event.
 *
 * Return: number of bytes, at most source_total_bytes(); 0 for a stream.
 */
uint64_t source_read_bytes(const struct source *source);

/**
 * source_total_bytes() - get the present size of a log
 * @source: the source
 *
 * Return: number of bytes; 0 for a stream.
 */
uint64_t source_total_bytes(const struct source *source);

/**
 * source_close() - close and free a source
 * @source: the source, or NULL
 */
void source_close(struct source *source);

#endif /* POSIXTRACE_SOURCE_H */
