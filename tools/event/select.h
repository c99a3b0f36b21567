/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects events by the options that several commands share.
 */
#ifndef POSIXTRACE_SELECT_H
#define POSIXTRACE_SELECT_H

#include <stdbool.h>

#include "event/source.h"
#include "util/options.h"

/* Options for a structure with a pointer to a selection: all of them, and --filter alone. */
extern const struct command_option select_options[];
extern const struct command_option select_filter[];

struct selection;

/* select_new() - create a selection of all events; returns 0 or a negative error number */
int select_new(struct selection **selection);

/**
 * select_event() - check if an event is selected
 * @selection: the selection
 * @event: the event
 *
 * Call it for each event of a trace, starting with the first: times may be relative to it.
 */
bool select_event(struct selection *selection, const struct event *event);

/* select_restart() - drop what is known of types and times, before the events of another log */
void select_restart(struct selection *selection);

/* select_needs_data() - check if select_event() looks at the data of events */
bool select_needs_data(const struct selection *selection);

void select_free(struct selection *selection);

#endif /* POSIXTRACE_SELECT_H */
