/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the file descriptors of processes are: the paths with which they were opened, or the kinds
 * of other files, from the system calls in a log with the classes syscall, strings and process, and
 * from what was open when recording started.
 *
 * A path is known only while no event could make it wrong. Losses, calls whose effect is not known,
 * and tables that may be shared with another process make it unknown.
 */
#ifndef POSIXTRACE_DESCRIPTORS_H
#define POSIXTRACE_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "event/kevent.h"

/* Bytes of a path, with the null byte. */
#define DESCRIPTORS_PATH_SIZE	256

/* Only the events of all these classes tell what becomes of a descriptor. */
#define DESCRIPTORS_CLASSES	(POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_STRINGS | \
				 POSIXTRACE_CLASS_PROCESS)

struct descriptors;

/* descriptors_new() - start without descriptors; returns 0 or -ENOMEM */
int descriptors_new(struct descriptors **descriptors);

/* descriptors_free() - free it; may be NULL */
void descriptors_free(struct descriptors *descriptors);

/* descriptors_start() - read what was open at the start of a log or stream; 0 or -errno */
int descriptors_start(struct descriptors *descriptors, struct source *source);

/**
 * descriptors_reach() - use what was open before a time
 * @all: the descriptors
 * @source: from descriptors_start(), read up to that time
 * @time: of the next event
 *
 * descriptors_event() also does this. A caller that prints an event before it calls
 * descriptors_event() must call this function first.
 */
void descriptors_reach(struct descriptors *all, struct source *source, uint64_t time);

/* descriptors_forget() - start again, before the events of another log */
void descriptors_forget(struct descriptors *descriptors);

/**
 * descriptors_event() - follow the next event
 * @descriptors: the descriptors
 * @event: each event of the source, in order
 *
 * The memory use is bounded: beyond the limits, paths are unknown.
 */
void descriptors_event(struct descriptors *descriptors, const struct event *event);

/**
 * descriptors_path() - get the path of a descriptor before an event
 * @descriptors: the descriptors
 * @event: event of the process
 * @fd: the descriptor
 *
 * Return: the path as the program passed it, any bytes, valid until the next event; or NULL.
 */
const char *descriptors_path(const struct descriptors *descriptors, const struct event *event,
			     int64_t fd);

/* descriptors_makes() - check if the result in a syscall_exit is a new descriptor */
bool descriptors_makes(const struct kevent *exit);

#endif /* POSIXTRACE_DESCRIPTORS_H */
