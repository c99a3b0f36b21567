/* SPDX-License-Identifier: GPL-2.0 */
/* PXT_TIMEOUT_SCALE in the environment: how slow the machine is. */
#ifndef _SELFTESTS_SCALE_H
#define _SELFTESTS_SCALE_H

/**
 * pxt_time_scale() - how much longer than usual things may take here
 *
 * Return: a factor of at least 1, for the time limits of a test.
 */
int pxt_time_scale(void);

/* Returns a factor for time limits, which must catch hangs, not slowness. */
int pxt_patience(void);

#endif /* _SELFTESTS_SCALE_H */
