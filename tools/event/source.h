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

#include "event/description.h"

#define NSEC_PER_SEC	1000000000ULL

/* The processor of a system event that no processor recorded. */
#define SOURCE_NO_CPU	POSIXTRACE_NO_CPU

struct source;

/*
 * One event, as the commands see it. Pointers are valid until the next source_next(), unless their
 * comments say more.
 */
struct event {
	uint64_t time;			/* ns of the stream's clock (CLOCK_REALTIME) */
	trace_event_id_t type;
	const char *name;		/* of the type, never NULL; may have any bytes but NUL */
	pid_t pid;
	uint64_t thread;		/* pthread_self() of the recording thread */
	pid_t tid;			/* kernel thread id of it; 0: not known */
	uint32_t life;			/* threads that had @pid and @tid before: see lives.h */
	uint32_t process_life;		/* processes that had @pid before */
	uint32_t child_life;		/* of sched_process_fork: the same of the child */
	uint32_t child_process_life;
	uint64_t address;		/* posix_prog_address */
	unsigned int cpu;		/* recording processor, or SOURCE_NO_CPU */
	bool user;			/* user event, not system event */
	bool has_data;		/* to be shown: a user event, or one of the kernel */
	int truncated;			/* POSIX_TRACE_NOT_TRUNCATED, ... */
	bool late;			/* of a stream: a younger one came before */
	uint64_t lost;			/* events known to be lost before it; never decreases */
	const unsigned char *data;
	size_t len;			/* bytes of data */
	struct description *description;	/* of the type, or NULL; as long as the source */
	struct source *source;		/* where it comes from */
};

struct formats;

/* Room for what event_thread_label() and event_process_label() write. */
#define LABEL_SIZE	64

/**
 * event_thread_name() - get the name that the thread had when it recorded an event
 * @event: the event
 * @name: where to store it: may have any bytes
 *
 * Return: true if it is known.
 */
bool event_thread_name(const struct event *event, char name[POSIXTRACE_THREAD_NAME_SIZE]);

/**
 * event_thread_label() - get a label for all events of a thread
 * @event: one of them
 * @label: where to store it: the last name of the thread and its id, or what else is known of it;
 *	may have any bytes
 *
 * Not the name of another thread that had the same ids before or later.
 *
 * Return: true if the name is known.
 */
bool event_thread_label(const struct event *event, char label[LABEL_SIZE]);

/* event_process_label() - the same for a process: its program, or its main thread, or its id */
void event_process_label(const struct event *event, char label[LABEL_SIZE]);

/**
 * event_thread_key() - get a number for the thread of an event, unique for its process id
 * @event: the event
 *
 * All readers tell threads apart by this. It is made of the kernel's thread id and of the life that
 * lives.c has found; pthread_self() only stands in for an id that is not known.
 *
 * Return: the same number for all events of the thread.
 */
uint64_t event_thread_key(const struct event *event);

/* event_process_key() - the same for the process of an event, unique among all processes */
uint64_t event_process_key(const struct event *event);

/* event_is_kernel() - check whether the kernel has recorded an event about a thread */
static inline bool event_is_kernel(const struct event *event)
{
	return event->has_data && !event->user;
}

/**
 * event_shows_running() - check whether the thread of an event had a processor
 * @event: the event
 *
 * Return: true if the thread recorded it, or the kernel did while it ran for the thread.
 */
bool event_shows_running(const struct event *event);

/**
 * event_is_counter() - check whether an event has a value of a counter
 * @event: the event
 * @value: where to store the value
 *
 * Return: true if its type is a counter, the data match the description, and the value is a number.
 */
bool event_is_counter(const struct event *event, struct posixtrace_value *value);

/**
 * event_has_fields() - check whether the fields of an event can be shown
 * @event: the event
 * @data_len: number of bytes of data that the event had, perhaps more than it still has
 *
 * Return: true if the data match the description. Of incomplete data, some fields are whole.
 */
bool event_has_fields(const struct event *event, size_t data_len);

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
