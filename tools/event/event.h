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

/* The CPU of system events that were not recorded on a CPU. */
#define SOURCE_NO_CPU	POSIXTRACE_NO_CPU

/* The error of a time that is not known. */
#define EVENT_ERROR_UNKNOWN	UINT64_MAX

struct source;

/*
 * One event, as the commands see it. Pointers are valid until the next source_next(), unless the
 * comment of the member says otherwise.
 */
struct event {
	uint64_t number;		/* 1, 2, 3 ... since the source was opened or rewound */
	uint64_t time;			/* ns; the stream's clock is CLOCK_REALTIME */
	trace_event_id_t type;
	const char *name;		/* name of the type, any bytes; never NULL */
	pid_t pid;			/* as all ids of processes and threads: see hosts.h */
	uint64_t thread;		/* pthread_self() of the recording thread */
	pid_t tid;			/* its kernel thread id; 0: unknown */
	uint32_t life;			/* number of earlier threads with its ids: see lives.h */
	uint32_t process_life;		/* number of earlier processes with this @pid */
	uint32_t child_life;		/* sched_process_fork: @life of the child */
	uint32_t child_process_life;
	uint64_t address;		/* posix_prog_address */
	unsigned int cpu;		/* recording CPU, see hosts.h; or SOURCE_NO_CPU */
	bool user;			/* user event, not system event */
	bool has_data;		/* a user or kernel event, whose data can be shown */
	int truncated;			/* POSIX_TRACE_NOT_TRUNCATED, ... */
	bool late;			/* a stream delivered it after a newer event */
	bool partial;			/* a START or STOP of one of several streams */
	bool unscheduled;		/* its log lacks scheduler events that another log has */
	uint32_t log;			/* number of its log in @source, from 0 */
	uint32_t series;		/* number of the first log of its stream */
	uint32_t host;			/* number of its host, from 1; 0 if there is only one */
	uint64_t error;			/* of @time, ns, if there are several hosts */
	bool unordered;			/* its order is unknown: see merge.h */
	uint64_t lost;			/* events known to be lost before it; never decreases */
	const unsigned char *data;
	size_t len;			/* bytes of data */
	struct description *description;	/* or NULL; valid as long as @source */
	struct source *source;		/* where it comes from */
};

/**
 * event_thread_key() - get the key of an event's thread, unique within its process id
 * @event: the event
 *
 * Readers must use this key to tell threads apart. It combines the kernel's thread id and the life
 * found by lives.c; pthread_self() is only used if the thread id is unknown.
 *
 * Return: the key, which is the same for all events of the thread.
 */
uint64_t event_thread_key(const struct event *event);

/* event_process_key() - get the key of an event's process, unique among all processes */
uint64_t event_process_key(const struct event *event);

/* event_is_kernel() - check if the kernel recorded the event about a thread */
static inline bool event_is_kernel(const struct event *event)
{
	return event->has_data && !event->user;
}

/**
 * event_shows_running() - check if the thread of an event was running
 * @event: the event
 *
 * Return: true if the thread itself recorded the event, or the kernel while running on behalf of
 * the thread.
 */
bool event_shows_running(const struct event *event);

/**
 * event_is_counter() - check if an event has a counter value
 * @event: the event
 * @value: where to store the value
 *
 * Return: true if the type is a counter, the data matches the description, and the value is finite
 * or an integer.
 */
bool event_is_counter(const struct event *event, struct posixtrace_value *value);

/**
 * event_has_fields() - check if the fields of an event can be shown
 * @event: the event
 * @data_len: number of bytes of data that the event originally had
 *
 * Return: true if the data matches the description. If data is missing, only the leading fields are
 *	complete.
 */
bool event_has_fields(const struct event *event, size_t data_len);

#endif /* POSIXTRACE_EVENT_H */
