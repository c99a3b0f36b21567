/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the states of threads at the start of recording for Perfetto.
 *
 * A running thread gets a switch from the idle thread. For a thread in any other state, a switch
 * would show it as running for no time, so its state is written as one of Perfetto's generic kernel
 * events. Older versions of Perfetto ignore these.
 */
#ifndef POSIXTRACE_PERFETTO_STATES_H
#define POSIXTRACE_PERFETTO_STATES_H

#include "export/export.h"
#include "export/perfetto_ftrace.h"
#include "export/perfetto_packets.h"

/*
 * Finds the number of a thread, and describes its track at the time of @event. Returns 0 or -errno.
 */
typedef int perfetto_states_find(void *to, const struct event *event, uint32_t *number);

/**
 * struct perfetto_states_to - where states are written
 * @packets: the packets of the trace
 * @ftrace: the scheduler events of the trace
 * @host: number of the host whose states are written
 * @find: finds threads
 * @to: first argument of @find
 */
struct perfetto_states_to {
	struct packets *packets;
	struct perfetto_ftrace *ftrace;
	unsigned int host;
	perfetto_states_find *find;
	void *to;
};

struct perfetto_states;

/**
 * perfetto_states_new() - read the states in a log
 * @export: the log
 * @to: where to write the states
 * @states: where to store the states; NULL if there are none, or if not all events are exported
 *
 * Return: 0 or a negative error number.
 */
int perfetto_states_new(struct export *export, const struct perfetto_states_to *to,
			struct perfetto_states **states);

/**
 * perfetto_states_put() - write the states that are older than an event
 * @states: from perfetto_states_new(); may be NULL
 * @event: the next event, not yet written
 * @lost: events were lost before @event
 *
 * Return: 0 or a negative error number.
 */
int perfetto_states_put(struct perfetto_states *states, const struct event *event, bool lost);

/* perfetto_states_see() - note an event of a thread, with the number of the thread */
void perfetto_states_see(struct perfetto_states *states, const struct event *event,
			 uint32_t number);

void perfetto_states_free(struct perfetto_states *states);

#endif /* POSIXTRACE_PERFETTO_STATES_H */
