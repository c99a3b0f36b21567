/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the kernel's counters of inter-processor interrupts. */
#ifndef _SELFTESTS_CALLS_H
#define _SELFTESTS_CALLS_H

#define CPUS_MAX	64

/*
 * Counts the interrupts that each processor has received from others. Returns the number of
 * processors, or -1.
 */
int count_calls(long long counts[CPUS_MAX]);

#endif /* _SELFTESTS_CALLS_H */
