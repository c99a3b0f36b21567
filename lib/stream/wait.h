/* SPDX-License-Identifier: MIT */
/* Waits for an event of a stream. */
#ifndef PXTU_WAIT_H
#define PXTU_WAIT_H

#include "stream/stream.h"

/**
 * pxtu_stream_wait() - sleep until there may be an event
 * @stream: in use by the caller; its lock is not held
 * @wait: argument of WAIT
 *
 * A cancellation point: a cancelled thread puts @stream.
 *
 * Return: 0 or negative errno.
 */
int pxtu_stream_wait(struct pxtu_stream *stream, struct posixtrace_wait *wait);

#endif /* PXTU_WAIT_H */
