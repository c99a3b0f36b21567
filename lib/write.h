/* SPDX-License-Identifier: MIT */
/* Writing records without a system call. */
#ifndef PXTU_WRITE_H
#define PXTU_WRITE_H

#include "state.h"

/**
 * pxtu_write() - record an event into the streams that we can write into
 * @state: state of this process, which is attached
 * @event: the event; @skip is not looked at
 * @mask: bit s: the stream in slot s wants it
 *
 * Takes note of new streams first, if nobody else is doing that. Async-signal-safe.
 * Changes errno.
 *
 * Return: bit s: recorded in the stream in slot s, or counted there as lost, if that is
 * full. The module has to see to the others.
 */
__u32 pxtu_write(struct pxtu_state *state, const struct posixtrace_event *event, __u32 mask);

#endif /* PXTU_WRITE_H */
