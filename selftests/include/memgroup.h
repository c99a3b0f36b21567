/* SPDX-License-Identifier: GPL-2.0 */
/* One memory cgroup at a time, which measures the memory of its processes. */
#ifndef _SELFTESTS_MEMGROUP_H
#define _SELFTESTS_MEMGROUP_H

#include "textfile.h"

/* Creates it; @limit in bytes, or "max". Returns 0 or negative errno. */
int memgroup_begin(const char *limit);

/* Moves the calling process, and its later children. */
int memgroup_enter(void);

/* Bytes, or -1. */
long memgroup_current(void);

/*
 * Reclaims memory, including the charges that processors keep in advance. Returns 0 or
 * negative errno.
 */
int memgroup_shrink(void);

/* The count of an event, or -1. */
long memgroup_event(const char *name);

/* Removes it; its processes have ended, or are about to. Returns 0 or negative errno. */
int memgroup_end(void);

#endif /* _SELFTESTS_MEMGROUP_H */
