/* SPDX-License-Identifier: MIT */
/* The window: delays events until their order is known. */
#ifndef PXTU_WINDOW_H
#define PXTU_WINDOW_H

#include "stream/reader.h"

/**
 * pxtu_window_holds() - check if it is too early to report a record
 * @reader: the reader, which has a window
 * @timestamp: time of the oldest visible record, after the settled time of the reader
 *
 * Asks the kernel. Older records may become visible during the call: if this returns false, look
 * for the oldest record again.
 *
 * Return: true if no record can be reported yet. In that case the kernel lets a reader sleep until
 * the window has passed.
 */
bool pxtu_window_holds(struct pxtu_reader *reader, __u64 timestamp);

/**
 * pxtu_window_set() - set the window
 * @reader: the reader
 * @window: nanoseconds, at most POSIXTRACE_WINDOW_NS_MAX
 *
 * Return: 0 or negative errno of DEFER.
 */
int pxtu_window_set(struct pxtu_reader *reader, __u64 window);

#endif /* PXTU_WINDOW_H */
