/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes kernel events in Perfetto's ftrace format. Perfetto derives the thread states, and the
 * threads on each CPU, from them.
 */
#ifndef POSIXTRACE_PERFETTO_FTRACE_H
#define POSIXTRACE_PERFETTO_FTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/kevent.h"
#include "event/source.h"
#include "util/buffer.h"

struct perfetto_ftrace;

/**
 * perfetto_ftrace_new() - create the ftrace part of the trace of a machine
 * @hosts: number of hosts in the logs
 * @shift: what is to be added to all times, ns
 * @ftrace: result
 *
 * Return: 0 or -ENOMEM.
 */
int perfetto_ftrace_new(unsigned int hosts, int64_t shift, struct perfetto_ftrace **ftrace);

/**
 * perfetto_ftrace_event() - process an event
 * @ftrace: from perfetto_ftrace_new()
 * @event: any event of a thread, in the order of the log, with the CPU as in the log
 * @kevent: its fields, or NULL if it is not a kernel event
 * @number: number of the thread, not THREADS_OTHERS
 *
 * Call it for all events: user events also show which threads run.
 *
 * Return: 1 if the ftrace events show the whole event; 0 if not; or -ENOMEM.
 */
int perfetto_ftrace_event(struct perfetto_ftrace *ftrace, const struct event *event,
			  const struct kevent *kevent, uint32_t number);

/**
 * perfetto_ftrace_start() - use the state of a thread that has no event since recording started
 * @ftrace: from perfetto_ftrace_new()
 * @event: an event with the ids and CPU of the thread, and the start of its state as the time
 * @number: number of the thread, not THREADS_OTHERS
 * @state: the state; perfetto_states.c writes it if the thread does not run
 * @symbol: number of the function in which the thread is blocked, or 0
 *
 * Return: 1 if Perfetto supports the CPU number; 0 if not; or -ENOMEM.
 */
int perfetto_ftrace_start(struct perfetto_ftrace *ftrace, const struct event *event,
			  uint32_t number, const struct posixtrace_thread_state *state,
			  uint32_t symbol);

/*
 * perfetto_ftrace_runs() - check if the trace shows the event's thread on its CPU; call this after
 * perfetto_ftrace_event()
 */
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
