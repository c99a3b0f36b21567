/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the kernel in Perfetto's format for ftrace, from which readers make the states of
 * threads and the threads of each processor.
 */
#ifndef POSIXTRACE_PERFETTO_FTRACE_H
#define POSIXTRACE_PERFETTO_FTRACE_H

#include "event/kevent.h"
#include "event/source.h"
#include "util/buffer.h"

struct perfetto_ftrace;

/* perfetto_ftrace_new() - begin; returns 0 or -ENOMEM */
int perfetto_ftrace_new(struct perfetto_ftrace **ftrace);

/**
 * perfetto_ftrace_event() - process an event; events must come in the order of the log
 * @ftrace: from perfetto_ftrace_new()
 * @event: any event of a thread
 * @kevent: its fields, or NULL if it is no event of the kernel
 * @number: number of the thread, not THREADS_OTHERS
 *
 * Call it for all events: those of the program show which threads run, too.
 *
 * Return: 1 if this is all that there is to show of the event; 0 if not; -ENOMEM.
 */
int perfetto_ftrace_event(struct perfetto_ftrace *ftrace, const struct event *event,
			  const struct kevent *kevent, uint32_t number);

/**
 * perfetto_ftrace_write() - append packets
 * @ftrace: from perfetto_ftrace_new()
 * @to: where to append them
 * @end: there are no more events
 */
void perfetto_ftrace_write(struct perfetto_ftrace *ftrace, struct buffer *to, bool end);

void perfetto_ftrace_free(struct perfetto_ftrace *ftrace);

#endif /* POSIXTRACE_PERFETTO_FTRACE_H */
