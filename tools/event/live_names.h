/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the threads of an active stream. The kernel only has the current name of a thread, but
 * threads may be renamed. If a name has changed since the previous batch, it is not shown, because
 * the event may be older than the change.
 */
#ifndef POSIXTRACE_LIVE_NAMES_H
#define POSIXTRACE_LIVE_NAMES_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

struct live_names;

/* Returns NULL if there is not enough memory. */
struct live_names *live_names_new(trace_id_t trid);

/**
 * live_names_get() - get the name of the thread of an event
 * @names: from live_names_new()
 * @event: the last event that was read
 * @batch: number of the batch with the event, at least 1
 * @name: result
 *
 * The first name that is read for a thread is trusted, although the thread may have been renamed
 * after the event.
 *
 * Return: false if the name is not known.
 */
bool live_names_get(struct live_names *names, const struct event *event, uint64_t batch,
		    char name[POSIXTRACE_THREAD_NAME_SIZE]);

/* NULL is allowed. */
void live_names_free(struct live_names *names);

#endif /* POSIXTRACE_LIVE_NAMES_H */
