/* SPDX-License-Identifier: MIT */
/* The flight recorder, for functions that also take other streams. */
#ifndef PXTU_RECORDER_H
#define PXTU_RECORDER_H

#include "stream/stream.h"

/**
 * pxtu_recorder_rotate() - continue the log of a stream in a file of the program
 * @stream: in use; may be the flight recorder, which then notes that its log has no known path
 * @arg: argument of ROTATE
 *
 * Return: as pxtu_stream_ioctl(); -EBUSY while posixtrace_snapshot() changes the log.
 */
int pxtu_recorder_rotate(const struct pxtu_stream *stream, struct posixtrace_rotate *arg);

#endif /* PXTU_RECORDER_H */
