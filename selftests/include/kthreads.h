/* SPDX-License-Identifier: GPL-2.0 */
/* Finds kernel threads, and reads their processor time. */
#ifndef _SELFTESTS_KTHREADS_H
#define _SELFTESTS_KTHREADS_H

#include <sys/types.h>

#define KTHREADS_MAX	256

/* Finds the kernel threads with names that begin with @kind. Returns their number. */
int kthread_find(const char *kind, pid_t pids[KTHREADS_MAX]);

/* Returns how long these threads have run, in nanoseconds. */
unsigned long long kthread_time(const char *kind);

#endif /* _SELFTESTS_KTHREADS_H */
