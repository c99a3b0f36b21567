/* SPDX-License-Identifier: MIT */
/* The window: holds events back until their order is known. */
#ifndef PXTU_WINDOW_H
#define PXTU_WINDOW_H

#include "stream/reader.h"

/**
 * pxtu_window_holds() - is it too early to report a record?
 * @reader: the reader, which has a window
 * @timestamp: of the oldest record that is visible, after the settled time of the reader
 *
 * Asks the kernel. If the answer is no, older records may have become visible meanwhile: look for
 * the oldest one once more.
 *
 * Return: true if all records have to wait; then the kernel lets threads sleep.
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
