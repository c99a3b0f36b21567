/* SPDX-License-Identifier: GPL-2.0 */
/* Cgroups that share, limit and measure the processor time of their processes. */
#ifndef _SELFTESTS_CPUGROUP_H
#define _SELFTESTS_CPUGROUP_H

#include "textfile.h"

/* Returns 0 or negative errno: -ENOENT if the kernel has none. */
int cpugroup_begin(void);

/* Returns 0 or negative errno. */
int cpugroup_make(const char *name);

/* @max as in cpu.max. Returns 0 or negative errno. */
int cpugroup_limit(const char *name, const char *max);

/* Moves the calling process, and its later children. */
int cpugroup_enter(const char *name);

/* Nanoseconds of all its processes so far, or 0. */
unsigned long long cpugroup_time(const char *name);

/* Removes one; its processes have ended, or are about to. Returns 0 or negative errno. */
int cpugroup_remove(const char *name);

/* After all were removed. Returns 0 or negative errno. */
int cpugroup_end(void);

#endif /* _SELFTESTS_CPUGROUP_H */
