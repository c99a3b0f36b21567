/* SPDX-License-Identifier: GPL-2.0 */
/* Cgroups that share, limit and measure the CPU time of their processes. */
#ifndef _SELFTESTS_CPUGROUP_H
#define _SELFTESTS_CPUGROUP_H

#include "textfile.h"

/*
 * Prepares the use of groups. Returns 0 or negative errno: -ENOENT if the kernel lacks the cpu
 * controller.
 */
int cpugroup_begin(void);

/* Creates a group. Returns 0 or negative errno. */
int cpugroup_make(const char *name);

/* Limits the CPU time of a group. @max: as in cpu.max. Returns 0 or negative errno. */
int cpugroup_limit(const char *name, const char *max);

/* Moves the calling process into the group; its later children inherit it. */
int cpugroup_enter(const char *name);

/* Returns the CPU time of all processes of a group so far, in nanoseconds; 0 on failure. */
unsigned long long cpugroup_time(const char *name);

/* Removes a group, whose processes have ended or are about to end. Returns 0 or negative errno. */
int cpugroup_remove(const char *name);

/* Call this after all groups were removed. Returns 0 or negative errno. */
int cpugroup_end(void);

#endif /* _SELFTESTS_CPUGROUP_H */
