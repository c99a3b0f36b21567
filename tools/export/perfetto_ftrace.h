/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel events in Perfetto's ftrace format, from which readers derive thread states and the
 * threads on each CPU.
 */
#ifndef POSIXTRACE_PERFETTO_FTRACE_H
#define POSIXTRACE_PERFETTO_FTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/kevent.h"
#include "event/source.h"
#include "util/buffer.h"

struct perfetto_ftrace;

/* perfetto_ftrace_new() - create the ftrace part of a trace; returns 0 or -ENOMEM */
int perfetto_ftrace_new(struct perfetto_ftrace **ftrace);

/**
 * perfetto_ftrace_event() - process an event
 * @ftrace: from perfetto_ftrace_new()
 * @event: any event of a thread, in the order of the log
 * @kevent: its fields, or NULL if it is not a kernel event
 * @number: number of the thread, not THREADS_OTHERS
 *
 * Call it for all events: user events also show which threads run.
 *
 * Return: 1 if the event needs no other representation; 0 if it does; -ENOMEM.
 */
int perfetto_ftrace_event(struct perfetto_ftrace *ftrace, const struct event *event,
			  const struct kevent *kevent, uint32_t number);

/**
 * perfetto_ftrace_start() - use the state of a thread that has no event since recording started
 * @ftrace: from perfetto_ftrace_new()
 * @event: has its ids, its CPU, and the time since when it has been in the state
 * @number: number of the thread, not THREADS_OTHERS
 * @state: the state; another packet shows it if the thread does not run
 * @symbol: number of the function in which it is blocked, or 0
 *
 * Return: 1 if readers support the CPU; 0; -ENOMEM.
 */
int perfetto_ftrace_start(struct perfetto_ftrace *ftrace, const struct event *event,
			  uint32_t number, const struct posixtrace_thread_state *state,
			  uint32_t symbol);

/* perfetto_ftrace_runs() - after perfetto_ftrace_event(), check if the trace shows the CPU */
bool perfetto_ftrace_runs(const struct perfetto_ftrace *ftrace, const struct event *event,
			  uint32_t number);

/**
 * perfetto_ftrace_write() - append packets
 * @ftrace: from perfetto_ftrace_new()
 * @to: where to append them
 * @end: no more events follow
 */
void perfetto_ftrace_write(struct perfetto_ftrace *ftrace, struct buffer *to, bool end);

void perfetto_ftrace_free(struct perfetto_ftrace *ftrace);

#endif /* POSIXTRACE_PERFETTO_FTRACE_H */
