/* SPDX-License-Identifier: MIT */
/* What the ways of reporting events share. */
#ifndef PXTU_GETNEXT_H
#define PXTU_GETNEXT_H

#include "stream/stream.h"

/**
 * pxtu_report() - tell the program of an event
 * @event: the event
 * @info: where to write what is known of it
 * @data: where to write its data
 * @room: bytes there; what does not fit is cut
 *
 * Return: bytes written to @data.
 */
size_t pxtu_report(const struct pxtu_event *event, struct posix_trace_event_info *info,
		   void *data, size_t room);

/**
 * pxtu_wait_event() - sleep until there may be an event
 * @stream: in use by the caller; its lock is not held
 * @wait: argument of WAIT
 *
 * A cancellation point: then the use of @stream is given up.
 *
 * Return: 0 or negative errno.
 */
int pxtu_wait_event(struct pxtu_stream *stream, struct posixtrace_wait *wait);

#endif /* PXTU_GETNEXT_H */
