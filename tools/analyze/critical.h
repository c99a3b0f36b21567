/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Divides a period of a thread into what the thread did, and each wait into what its waker did
 * during the wait: the critical path. Follows chains of up to CRITICAL_DEPTH wakers.
 *
 * The time of a wait is not divided if its waker is not a thread of the log. The time is unknown if
 * the log contradicts itself: a thread that waits for another one cannot wake it.
 */
#ifndef POSIXTRACE_CRITICAL_H
#define POSIXTRACE_CRITICAL_H

#include "analyze/parts.h"
#include "analyze/tracks.h"

#define CRITICAL_DEPTH	64

/**
 * critical_divide() - divide a period
 * @tracks: the tracks of a window that includes it, after tracks_end()
 * @thread: number of the thread
 * @begin: start of the period
 * @end: its end
 * @parts: where to store the tree, to free with parts_free()
 *
 * Return: 0 or -ENOMEM.
 */
int critical_divide(const struct tracks *tracks, uint32_t thread, uint64_t begin, uint64_t end,
		    struct parts **parts);

#endif /* POSIXTRACE_CRITICAL_H */
