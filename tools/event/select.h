/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects events of a trace, by options that several commands share.
 */
#ifndef POSIXTRACE_SELECT_H
#define POSIXTRACE_SELECT_H

#include <stdbool.h>

#include "event/source.h"
#include "util/options.h"

/* Options of commands whose structure has a pointer to a selection: all, and --filter alone. */
extern const struct command_option select_options[];
extern const struct command_option select_filter[];

struct selection;

/* select_new() - create a selection of all events; returns 0 or a negative error number */
int select_new(struct selection **selection);

/**
 * select_event() - check whether an event is selected
 * @selection: the selection
 * @event: the event
 *
 * Call it for each event of a trace, from the first: times may be relative to the first event.
 */
bool select_event(struct selection *selection, const struct event *event);

/* select_restart() - forget the types and times of events: events of another log follow */
void select_restart(struct selection *selection);

/* select_needs_data() - check whether select_event() looks at the data of events */
bool select_needs_data(const struct selection *selection);

void select_free(struct selection *selection);

#endif /* POSIXTRACE_SELECT_H */
