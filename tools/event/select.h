/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects events by the options that several commands share.
 */
#ifndef POSIXTRACE_SELECT_H
#define POSIXTRACE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "event/filter.h"
#include "event/source.h"
#include "util/moment.h"
#include "util/options.h"

/* Options for a structure with a pointer to a selection. */
extern const struct command_option select_options[];

struct selection;

/* select_new() - create a selection of all events; returns 0 or a negative error number */
int select_new(struct selection **selection);

/**
 * select_check() - check that the options can select something, before a log is opened
 * @selection: the selection
 *
 * Return: 0, or -ENOENT after printing an error.
 */
int select_check(const struct selection *selection);

/**
 * select_next() - read the next event of which select_event() must know
 * @selection: the selection
 * @source: a log or stream, at its first event when this is called first
 * @event: where to store it
 *
 * With --from, skips what is in a log before that time, as far as possible without reading it. Ends
 * after --to if the log is complete.
 *
 * Return: as source_next().
 */
int select_next(struct selection *selection, struct source *source, struct event *event);

/**
 * select_first_time() - get the time of the first event of the trace
 * @selection: the selection
 *
 * Return: the time, 0 if no event was read.
 */
uint64_t select_first_time(const struct selection *selection);

/* select_period() - get --from and --to */
void select_period(const struct selection *selection, struct moment *from, struct moment *to);

/**
 * select_complain() - report that no event was selected, or that the log has no events
 * @selection: the selection, after the last event
 * @path: name of the log
 * @source: the log
 *
 * Return: 0, or -ENOENT if options left out all events.
 */
int select_complain(const struct selection *selection, const char *path,
		    const struct source *source);

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
 * select_scope() - check if a scope or system call is selected, whatever its time is
 * @selection: the selection
 * @begin: its begin
 * @end: its end
 * @name: its name
 *
 * Return: true if @begin or @end is selected. A condition on a field is true if it is true for one
 *	of them.
 */
bool select_scope(struct selection *selection, const struct event *begin, const struct event *end,
		  const char *name);

/* select_thread() - check if an event is selected, whatever its time is */
bool select_thread(struct selection *selection, const struct event *event);

/* select_has_all() - check if no option leaves out events */
bool select_has_all(const struct selection *selection);

/* select_has_period() - check if no option but --from and --to leaves out events */
bool select_has_period(const struct selection *selection);

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
 * @scope: the scope that @event begins or ends; NULL if there is none or its duration is unknown
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
