/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects events of a log by the durations of scopes and system calls. A duration is known only at
 * its end, so durations_select() reads the whole log once before the command reads it.
 */
#ifndef POSIXTRACE_DURATIONS_H
#define POSIXTRACE_DURATIONS_H

#include "event/select.h"
#include "event/source.h"

/**
 * durations_select() - decide which events of a log are selected
 * @selection: the selection
 * @source: a log, at its first event
 * @interrupted: NULL, or a function that returns 0 to continue or an error number to stop
 *
 * Does nothing if the selection has no conditions on durations. Otherwise returns to the first
 * event of the log.
 *
 * Return: 0, or a negative error number. Errors are reported, except an error of @interrupted.
 */
int durations_select(struct selection *selection, struct source *source, int (*interrupted)(void));

#endif /* POSIXTRACE_DURATIONS_H */
