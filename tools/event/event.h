/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One event of a log or a stream, as the commands see it.
 */
#ifndef POSIXTRACE_EVENT_H
#define POSIXTRACE_EVENT_H

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

#endif /* POSIXTRACE_EVENT_H */
