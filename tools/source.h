/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the commands get events from: a log, or a stream of this process. One
 * after the other, in their order, in memory that does not grow with them.
 */
#ifndef POSIXTRACE_SOURCE_H
#define POSIXTRACE_SOURCE_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NSEC_PER_SEC	1000000000ULL

/* A system event that no processor has recorded. */
#define SOURCE_NO_CPU	POSIXTRACE_NO_CPU

/**
 * struct event - one event, as the commands see it
 * @time: ns, as the stream's clock tells (CLOCK_REALTIME)
 * @type: event type
 * @name: its name, never NULL. Of a log it may have any bytes but NUL
 * @pid: process
 * @thread: pthread_self() of who recorded it
 * @address: posix_prog_address
 * @cpu: processor that recorded it, or SOURCE_NO_CPU
 * @user: a user event, else one of the system's
 * @truncated: POSIX_TRACE_NOT_TRUNCATED, ...
 * @lost: events lost before it, so far as is known with it; never falling
 * @data: its data
 * @len: bytes of that
 *
 * Pointers are good until the next call of source_next().
 */
struct event {
	uint64_t time;
	trace_event_id_t type;
	const char *name;
	pid_t pid;
	uint64_t thread;
	uint64_t address;
	unsigned int cpu;
	bool user;
	int truncated;
	uint64_t lost;
	const unsigned char *data;
	size_t len;
};

struct source;

/**
 * source_open_log() - open a log to read its events
 * @path: of the file
 * @source: where to write the source
 *
 * Return: 0 or negative errno; see source_complain().
 */
int source_open_log(const char *path, struct source **source);

/**
 * source_complain() - say on standard error why a log could not be opened
 * @path: of the file
 * @err: what source_open_log() returned
 */
void source_complain(const char *path, int err);

/**
 * source_from_stream() - the events of a stream
 * @trid: trace id of an active stream without log; it stays the caller's
 * @source: where to write the source
 *
 * Return: 0 or negative errno.
 */
int source_from_stream(trace_id_t trid, struct source **source);

/**
 * source_next() - the next event
 * @source: the source
 * @event: where to write it
 *
 * Waits for it if it comes from a stream. At the end of a log that is still written, a
 * later call may find more.
 *
 * Return: 1; 0 at the end; negative errno, -EINTR after a signal handler.
 */
int source_next(struct source *source, struct event *event);

/**
 * source_try() - the next event, if it is there
 * @source: the source
 * @event: where to write it
 *
 * Return: as source_next(), but 0 instead of waiting.
 */
int source_try(struct source *source, struct event *event);

/**
 * source_rewind() - back to the first event of a log
 * @source: the source
 *
 * Return: 0 or negative errno.
 */
int source_rewind(struct source *source);

/**
 * source_type_name() - name of an event type
 * @source: the source
 * @type: any number
 *
 * Return: the name; "(type N)" if it has none. Lasts as long as @source.
 */
const char *source_type_name(struct source *source, trace_event_id_t type);

/**
 * source_trid() - trace id, for attributes, status, list of types
 * @source: the source
 */
trace_id_t source_trid(const struct source *source);

/**
 * source_read_bytes() - how much of a log was read
 * @source: the source
 *
 * For those who want to see that something happens: about. Not for each event: it looks at
 * the file.
 *
 * Return: bytes, not more than source_total_bytes() gives; 0 of a stream.
 */
uint64_t source_read_bytes(const struct source *source);

/**
 * source_total_bytes() - size of a log
 * @source: the source
 *
 * Return: bytes, as it is now; 0 of a stream.
 */
uint64_t source_total_bytes(const struct source *source);

/**
 * source_close() - free it
 * @source: the source, or NULL
 */
void source_close(struct source *source);

#endif /* POSIXTRACE_SOURCE_H */
