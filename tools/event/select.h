/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects events of a trace, by options that several commands share.
 */
#ifndef POSIXTRACE_SELECT_H
#define POSIXTRACE_SELECT_H

#include <stdbool.h>

#include "event/source.h"

#define SELECT_SHORT_OPTIONS	"F:p:t:x:"

/* Options without a letter. */
#define SELECT_FROM		256
#define SELECT_TO		257

#define SELECT_HELP \
	"  -F, --filter=FILTER      only these events, by names and fields:\n" \
	"                           'cache_* && op == set && len > 4096'\n" \
	"  -p, --pid=PID,...        only events of these processes\n" \
	"  -t, --thread=THREAD,...  only events of these threads\n" \
	"  -x, --exclude=NAME,...   no events of these types\n" \
	"      --from=TIME          only events from this time on: microseconds since the first\n" \
	"                           event, or with a unit (s, ms, us, ns); @SECONDS since the\n" \
	"                           Epoch; or 2026-01-31T12:00:00Z\n" \
	"      --to=TIME            only events up to this time\n"

struct selection;

/* select_new() - create a selection of all events; returns 0 or a negative error number */
int select_new(struct selection **selection);

/**
 * select_option() - handle an option of SELECT_HELP
 * @selection: the selection
 * @opt: what getopt_long() returned
 * @value: argument of the option
 *
 * Return: 1 if the option was handled, 0 if it is another option, or a negative error number;
 *	-EINVAL after a complaint about the argument.
 */
int select_option(struct selection *selection, int opt, const char *value);

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
