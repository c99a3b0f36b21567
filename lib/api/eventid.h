/* SPDX-License-Identifier: MIT */
/* Opens event types, optionally with a description. */
#ifndef PXTU_EVENTID_H
#define PXTU_EVENTID_H

#include "common/pxtu.h"

/**
 * pxtu_eventid_name() - check a name and copy it into the argument of EVENTID_OPEN
 * @name: any string
 * @eventid: the argument; all other fields are set to zero
 *
 * Return: 0; -EINVAL if @name is NULL or empty; -ENAMETOOLONG.
 */
int pxtu_eventid_name(const char *name, struct posixtrace_eventid *eventid);

/**
 * pxtu_eventid_open() - call EVENTID_OPEN in the calling process
 * @eventid: the argument; its id is the result
 *
 * Not for signal handlers, because it waits for another thread that attaches.
 *
 * Return: 0; negative errno.
 */
int pxtu_eventid_open(struct posixtrace_eventid *eventid);

#endif /* PXTU_EVENTID_H */
