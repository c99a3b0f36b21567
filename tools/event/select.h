/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects events by the options that several commands share.
 */
#ifndef POSIXTRACE_SELECT_H
#define POSIXTRACE_SELECT_H

#include <stdbool.h>

#include "event/filter.h"
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
 * Call it for each event of a trace, starting with the first: times may be relative to it. With
 * conditions on durations, only events are selected about which select_judge() has decided.
 */
bool select_event(struct selection *selection, const struct event *event);

/**
 * select_has_durations() - check if filters have conditions on durations of scopes
 * @selection: the selection
 *
 * If so, call select_first() and then, for each event of the log in any order, select_judge(),
 * before the first call of select_event().
 */
bool select_has_durations(const struct selection *selection);

/* select_first() - tell the first event of a trace, which select_judge() may get later */
void select_first(struct selection *selection, const struct event *event);

/**
 * select_judge() - decide about an event before it is read again
 * @selection: the selection
 * @event: the event, or a copy with the same number
 * @scope: the scope of which it is an end, or NULL if there is none or its duration is unknown
 *
 * Return: 0, -EFBIG if too many events are selected, or -ENOMEM.
 */
int select_judge(struct selection *selection, const struct event *event,
		 const struct filter_scope *scope);

/* select_restart() - drop what is known of types and times, before the events of another log */
void select_restart(struct selection *selection);

/* select_needs_data() - check if select_event() looks at the data of events */
bool select_needs_data(const struct selection *selection);

void select_free(struct selection *selection);

#endif /* POSIXTRACE_SELECT_H */
