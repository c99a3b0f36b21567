/* SPDX-License-Identifier: MIT */
/* Opening event types, also with a description. */
#ifndef PXTU_EVENTID_H
#define PXTU_EVENTID_H

#include "common/pxtu.h"

/**
 * pxtu_eventid_name() - check a name and copy it into the argument of EVENTID_OPEN
 * @name: any
 * @eventid: the argument; all else is zero then
 *
 * Return: 0; -EINVAL if @name is NULL or empty; -ENAMETOOLONG.
 */
int pxtu_eventid_name(const char *name, struct posixtrace_eventid *eventid);

/**
 * pxtu_eventid_open() - EVENTID_OPEN in the calling process
 * @eventid: the argument; gets the id
 *
 * Not for signal handlers: waits for another thread that attaches.
 *
 * Return: 0; negative errno.
 */
int pxtu_eventid_open(struct posixtrace_eventid *eventid);

#endif /* PXTU_EVENTID_H */
