/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the events of one log, of several logs together, or of a stream of this process. Returns
 * them one by one, in order. The memory use does not grow with the number of events.
 */
#ifndef POSIXTRACE_SOURCE_H
#define POSIXTRACE_SOURCE_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"

/* Number of logs that can be read together. The library supports four times as many trace ids. */
#define SOURCE_LOGS_MAX	1024

struct formats;
struct source;

/* source_path() - get the path of a log from an operand: "-" is standard input */
const char *source_path(const char *operand);

/* source_is_stdin() - check if a path from source_path() is standard input */
bool source_is_stdin(const char *path);

/**
 * source_open_log() - open a log for reading
 * @path: from source_path()
 * @source: where to store the source
 *
 * The file may be compressed. A log from a pipe is read to its end first.
 *
 * Return: 0 or a negative error number for source_complain().
 */
int source_open_log(const char *path, struct source **source);

/**
 * source_open_logs() - open several logs, to read their events in order of time
 * @paths: from source_path(); must remain valid
 * @count: number of logs; 1 is like source_open_log()
 * @source: where to store the source
 *
 * Reports errors on standard error.
 *
 * Return: 0 or a negative error number.
 */
int source_open_logs(const char *const *paths, size_t count, struct source **source);

/*
 * source_was_copied() - check if the log is a copy of a pipe or compressed file, so it cannot grow
 */
bool source_was_copied(const struct source *source);

/**
 * source_was_cleared() - check if the file now contains a different log
 * @source: a log
 *
 * posix_trace_clear() on the stream restarts the log in the same file. While the new log has no
 * header yet, returns false.
 */
bool source_was_cleared(const struct source *source);

/**
 * source_open_again() - reopen a log that was cleared, from its first event
 * @source: a log
 *
 * Return: 0 or a negative error number. After an error, @source is unchanged. -EINVAL: the header
 * of the new log may still be incomplete.
 */
int source_open_again(struct source *source);

/**
 * source_complain() - report why a log could not be opened, unless already reported
 * @path: path of the file
 * @err: what source_open_log() returned
 */
void source_complain(const char *path, int err);

/**
 * source_from_stream() - open a stream for reading
 * @trid: trace id of an active stream without log; the caller keeps it open
 * @source: where to store the source
 *
 * Return: 0 or a negative error number.
 */
int source_from_stream(trace_id_t trid, struct source **source);

/**
 * source_set_formats() - use the descriptions in a format file
 * @source: the source
 * @formats: the loaded file, or NULL; the caller keeps it
 *
 * The file's descriptions override those from the traced process. Call this before reading the
 * first event.
 */
void source_set_formats(struct source *source, const struct formats *formats);

/* source_is_log() - check if the source is a log, not a stream */
bool source_is_log(const struct source *source);

/**
 * source_next() - read the next event
 * @source: the source
 * @event: where to store it
 *
 * Waits for the next event of a stream. At the end of a log that is still being written, a later
 * call may return more events.
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
 * source_identify() - find the thread and process for ids and a time that are not from an event
 * @source: the source, read up to the time
 * @event: the ids and the time; the function sets @life and @process_life
 *
 * Return: 0 or -ENOMEM.
 */
int source_identify(struct source *source, struct event *event);

/**
 * source_life_end() - get the time up to which names belong to the thread of an event
 * @source: the source
 * @event: an event
 * @process: true: use the process of the event, not the thread
 *
 * Return: see lives_end().
 */
uint64_t source_life_end(struct source *source, const struct event *event, bool process);

/**
 * source_thread_name() - get the name of the thread that recorded an event
 * @source: the source; it must have names
 * @event: an event with a kernel thread id
 * @name: where to store it
 *
 * For an active stream, the name may be up to a second old, because a lookup would cost more than
 * an event.
 *
 * Return: true if the name is known.
 */
bool source_thread_name(struct source *source, const struct event *event,
			char name[POSIXTRACE_THREAD_NAME_SIZE]);

/**
 * source_has_names() - check if thread names may be known
 * @source: the source
 *
 * Return: true for a stream, and for a log that records its host.
 */
bool source_has_names(struct source *source);

/**
 * source_rewind() - return to the first event of a log
 * @source: the source
 *
 * Return: 0 or a negative error number.
 */
int source_rewind(struct source *source);

/**
 * source_seek() - go to a time in a log
 * @source: a log
 * @time: ns since the Epoch
 *
 * The next event is the first one at or after @time, or some event before that one.
 *
 * Return: 0 or a negative error number.
 */
int source_seek(struct source *source, uint64_t time);

/* source_is_complete() - check if the stream of a log was shut down, so the log cannot change */
bool source_is_complete(const struct source *source);

/*
 * source_get_host() - get the host, or the first one; returns 0, or a negative error number if it
 * is unknown
 */
int source_get_host(const struct source *source, struct posixtrace_host_info *info);

/* source_get_host_of() - get the host of an event; returns 0 or a negative error number */
int source_get_host_of(const struct source *source, const struct event *event,
		       struct posixtrace_host_info *info);

/* source_hosts() - get the number of hosts: if it is not 1, ids are as described in hosts.h */
unsigned int source_hosts(const struct source *source);

/* source_log_host() - get the number of the host of a log, as in event.host */
unsigned int source_log_host(const struct source *source, size_t log);

/* source_host_name() - get the unique name of a host: any bytes; "" if there is only one host */
const char *source_host_name(const struct source *source, unsigned int host);

/* source_host_of() - get the host of a process or thread id, as in event.host; 0 for the id 0 */
unsigned int source_host_of(const struct source *source, pid_t id);

/* source_shared_id() - get the id as in events from the plain one; @like: an id of the same host */
pid_t source_shared_id(const struct source *source, pid_t like, pid_t id);

/* source_plain_id() - get the id in the log from the id of a process or thread, to show it */
pid_t source_plain_id(const struct source *source, pid_t id);

/* source_plain_cpu() - get the number of a processor in the log, to show it */
unsigned int source_plain_cpu(const struct source *source, unsigned int cpu);

/*
 * source_get_classes() - get the classes of kernel events that were requested; returns 0 or -errno
 */
int source_get_classes(const struct source *source, unsigned int *classes);

/**
 * source_get_info() - get the contents and losses of all logs
 * @source: logs
 * @info: result: the numbers are sums; POSIXTRACE_LOG_ENDED: all logs have ended;
 *	POSIXTRACE_LOG_DAMAGED: at least one log is damaged
 *
 * Return: 0 or a negative error number.
 */
int source_get_info(const struct source *source, struct posixtrace_log_info *info);

/**
 * source_name_at() - get the name that a thread had at a time
 * @source: the source
 * @event: an event of the process of the thread; its log is searched first
 * @tid: kernel's id of the thread
 * @at: ns since the Epoch
 * @name: where to store it
 *
 * Return: true if the name is known.
 */
bool source_name_at(const struct source *source, const struct event *event, pid_t tid,
		    uint64_t at, char name[POSIXTRACE_THREAD_NAME_SIZE]);

/**
 * source_get_program() - get the command line that the process of an event had at a time
 * @source: the source
 * @event: the event
 * @at: ns since the Epoch
 * @program: where to store it
 * @size: size of the command line, which may be larger than @program
 *
 * Return: true if the command line is known.
 */
bool source_get_program(const struct source *source, const struct event *event, uint64_t at,
			char program[POSIXTRACE_PROGRAM_SIZE], size_t *size);

/*
 * source_get_mapping() - get the file that the process of an event had at an address; false:
 * unknown
 */
bool source_get_mapping(const struct source *source, const struct event *event, uint64_t address,
			struct posixtrace_mapping_info *info);

/* source_get_birth() - get the time when the process of an event was born, in ns; false: unknown */
bool source_get_birth(const struct source *source, const struct event *event, uint64_t *born);

/* source_trid() - get the trace id of the stream, or of the first log */
trace_id_t source_trid(const struct source *source);

/* source_logs() - get the number of logs; 1 for a stream. event.log is an index, from 0. */
size_t source_logs(const struct source *source);

/* source_log_trid() - get the trace id of a log, for attributes, status or event types */
trace_id_t source_log_trid(const struct source *source, size_t log);

/* source_log_classes() - get the classes of kernel events of a log; returns 0 or -errno */
int source_log_classes(const struct source *source, size_t log, unsigned int *classes);

/* source_log_path() - get the path of a log */
const char *source_log_path(const struct source *source, size_t log);

/* source_log_losses() - get the losses of a log, up to its last event that was read */
void source_log_losses(const struct source *source, size_t log, uint64_t *damaged, uint64_t *lost);

/**
 * source_read_bytes() - get the approximate number of bytes read, to show progress
 * @source: the source
 *
 * Inspects the file, so this is too slow to call for each event.
 *
 * Return: number of bytes, at most source_total_bytes(); 0 for a stream.
 */
uint64_t source_read_bytes(const struct source *source);

/**
 * source_total_bytes() - get the current size of a log
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
