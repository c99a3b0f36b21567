/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the environment: how slow the machine is (PXT_TIMEOUT_SCALE), and how thorough the tests are
 * (PXT_STRIDE, PXT_SEED).
 */
#ifndef _SELFTESTS_SCALE_H
#define _SELFTESTS_SCALE_H

#include <stdbool.h>

/**
 * pxt_time_scale() - get the factor by which operations may be slower than usual
 *
 * Return: a factor of at least 1, for the time limits of a test.
 */
int pxt_time_scale(void);

/**
 * pxt_times_count() - check if processor times tell something about the code under test
 *
 * A debug kernel adds work of its own, outside of any group: it frees memory later, and searches
 * for leaks. There, such a test only looks for faults of the module.
 *
 * Return: false on a debug kernel and with a sanitizer.
 */
bool pxt_times_count(void);

/**
 * pxt_stride() - how many steps to advance in a test that tries many places one by one, and the
 * divisor of the rounds of a test that repeats the same
 *
 * Return: 1; or PXT_STRIDE from the environment, for runs that have less time.
 */
int pxt_stride(void);

/**
 * pxt_place_after() - choose the next place in a test that tries many places one by one
 * @place: the last one
 *
 * Advances by pxt_stride() places on average. PXT_SEED decides which places these are.
 *
 * Return: the next place, which is @place + 1 without PXT_STRIDE.
 */
int pxt_place_after(int place);

/* Returns a factor for time limits, which must catch hangs, not slowness. */
int pxt_patience(void);

#endif /* _SELFTESTS_SCALE_H */
