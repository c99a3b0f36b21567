/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which events of a trace somebody wants to see: options that the commands share.
 */
#ifndef POSIXTRACE_SELECT_H
#define POSIXTRACE_SELECT_H

#include <stdbool.h>

#include "source.h"

#define SELECT_SHORT_OPTIONS	"F:p:t:x:"

/* Options without a letter. */
#define SELECT_FROM		256
#define SELECT_TO		257

#define SELECT_HELP \
	"  -F, --filter=NAME,...    only events of these types; * and ? stand for others\n" \
	"  -p, --pid=PID,...        only events of these processes\n" \
	"  -t, --thread=THREAD,...  only events of these threads\n" \
	"  -x, --exclude=NAME,...   no events of these types\n" \
	"      --from=TIME          only from then on: microseconds since the first event, or\n" \
	"                           with a unit (s, ms, us, ns); or @SECONDS since the Epoch,\n" \
	"                           or 2026-01-31T12:00:00Z\n" \
	"      --to=TIME            only until then\n"

struct selection;

/* select_new() - all events; 0 or negative errno */
int select_new(struct selection **selection);

/**
 * select_option() - is the option one of these?
 * @selection: the selection
 * @opt: what getopt_long() returned
 * @value: its argument
 *
 * Return: 1; 0 if it is another; negative errno: -EINVAL if the argument makes no sense,
 * and then the user was told.
 */
int select_option(struct selection *selection, int opt, const char *value);

/**
 * select_event() - is the event one of these?
 * @selection: the selection
 * @event: the event; of a trace, all have to come by here: times may be relative to the first
 */
bool select_event(struct selection *selection, const struct event *event);

void select_free(struct selection *selection);

#endif /* POSIXTRACE_SELECT_H */
