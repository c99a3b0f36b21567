/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the file descriptors of processes refer to: the path with which a file was opened, or the
 * kind of any other file. Derived from the system calls in a log with the classes syscall, strings
 * and process, and from the list of files that were open when recording started.
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

/* All of these classes are needed to follow the descriptors of a process. */
#define DESCRIPTORS_CLASSES	(POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_STRINGS | \
				 POSIXTRACE_CLASS_PROCESS)

struct descriptors;

/* descriptors_new() - start without descriptors; returns 0 or -ENOMEM */
int descriptors_new(struct descriptors **descriptors);

/* descriptors_free() - free all memory; @descriptors may be NULL */
void descriptors_free(struct descriptors *descriptors);

/* descriptors_start() - read the files open at the start of a log or stream; returns 0 or -errno */
int descriptors_start(struct descriptors *descriptors, struct source *source);

/**
 * descriptors_reach() - use the rows of open files that are older than a time
 * @all: the descriptors
 * @source: the source passed to descriptors_start(), read up to @time
 * @time: time of the next event
 *
 * descriptors_event() also does this. A caller that prints an event before it calls
 * descriptors_event() must call this function first.
 */
void descriptors_reach(struct descriptors *all, struct source *source, uint64_t time);

/* descriptors_forget() - forget all descriptors, before the events of another log */
void descriptors_forget(struct descriptors *descriptors);

/**
 * descriptors_event() - follow the next event
 * @descriptors: the descriptors
 * @event: each event of the source, in order
 *
 * The memory use is bounded. Paths beyond the limits are unknown.
 */
void descriptors_event(struct descriptors *descriptors, const struct event *event);

/**
 * descriptors_path() - get the path of a descriptor before an event
 * @descriptors: the descriptors
 * @event: event of the process
 * @fd: the descriptor
 *
 * Return: the path that the program passed (any bytes), valid until the next event; NULL if
 * unknown.
 */
const char *descriptors_path(const struct descriptors *descriptors, const struct event *event,
			     int64_t fd);

/* descriptors_makes() - check if the result of a syscall_exit is a new descriptor */
bool descriptors_makes(const struct kevent *exit);

#endif /* POSIXTRACE_DESCRIPTORS_H */
