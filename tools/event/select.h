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

/* Options for any structure that begins with a pointer to a selection. */
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
 * select_next() - read the next event that must be passed to select_event()
 * @selection: the selection
 * @source: a log or stream; at the first call, at its first event
 * @event: where to store it
 *
 * With --from, skips the part of a log before that time, as far as possible without reading it.
 * With --to, ends at that time if the log is complete.
 *
 * Return: as for source_next().
 */
int select_next(struct selection *selection, struct source *source, struct event *event);

/**
 * select_first_time() - get the time of the first event of the trace
 * @selection: the selection
 *
 * Return: the time; 0 if no event was read.
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
 * Call it for each event of a trace, starting with the first one, because times may be relative to
 * the first event. If there are conditions on durations, call select_judge() for the event first.
 */
bool select_event(struct selection *selection, const struct event *event);

/**
 * select_scope() - check if a scope or system call is selected, regardless of --from and --to
 * @selection: the selection
 * @begin: event at the start of the scope
 * @end: event at the end of the scope
 * @name: name of the scope
 *
 * Return: true if @begin or @end is selected. A condition on a field is true if it is true for one
 * of these events.
 */
bool select_scope(struct selection *selection, const struct event *begin, const struct event *end,
		  const char *name);

/* select_thread() - check if an event is selected, regardless of --from and --to */
bool select_thread(struct selection *selection, const struct event *event);

/* select_has_all() - check if no option leaves out events */
bool select_has_all(const struct selection *selection);

/* select_has_period() - check if no option but --from and --to leaves out events */
bool select_has_period(const struct selection *selection);

/**
 * select_has_durations() - check if filters have conditions on durations of scopes
 * @selection: the selection
 *
 * If so, the caller must read the log twice. The first time, it calls select_first(), then
 * select_judge() for each event in any order. The second time, it calls select_event().
 */
bool select_has_durations(const struct selection *selection);

/*
 * select_first() - report the first event of a trace, because select_judge() gets events in any
 * order
 */
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

/* select_restart() - forget types and times, before the events of another log */
void select_restart(struct selection *selection);

/* select_needs_data() - check if select_event() looks at the data of events */
bool select_needs_data(const struct selection *selection);

void select_free(struct selection *selection);

#endif /* POSIXTRACE_SELECT_H */
