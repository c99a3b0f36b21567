/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the critical path of a period of a thread: divides the period into what the thread did, and
 * each wait into what its waker did during the wait. Follows chains of up to CRITICAL_DEPTH wakers.
 *
 * A wait is not divided if its waker is not a thread in the log. Its time counts as unknown if the
 * log contradicts itself, such as when a thread is woken by a thread that waits for it.
 */
#ifndef POSIXTRACE_CRITICAL_H
#define POSIXTRACE_CRITICAL_H

#include "analyze/parts.h"
#include "analyze/tracks.h"

#define CRITICAL_DEPTH	64

/**
 * critical_divide() - divide a period
 * @tracks: the tracks of a window that includes the period, after tracks_end()
 * @thread: number of the thread
 * @begin: start of the period
 * @end: end of the period
 * @parts: where to store the tree, to free with parts_free()
 *
 * Return: 0 or -ENOMEM.
 */
int critical_divide(const struct tracks *tracks, uint32_t thread, uint64_t begin, uint64_t end,
		    struct parts **parts);

#endif /* POSIXTRACE_CRITICAL_H */
