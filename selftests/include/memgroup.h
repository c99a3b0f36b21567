/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the memory of processes with a memory cgroup. Only one can exist at a time. */
#ifndef _SELFTESTS_MEMGROUP_H
#define _SELFTESTS_MEMGROUP_H

#include "textfile.h"

/* Creates the group. @limit: in bytes, or "max". Returns 0 or negative errno. */
int memgroup_begin(const char *limit);

/* Moves the calling process into the group; its later children inherit it. */
int memgroup_enter(void);

/* Returns the memory use of the group in bytes, or -1. */
long memgroup_current(void);

/* Reclaims memory, including per-CPU stocks of charges. Returns 0 or negative errno. */
int memgroup_shrink(void);

/* Returns how often an event of memory.events occurred, or -1. */
long memgroup_event(const char *name);

/*
 * Removes the group, whose processes have ended or are about to end. Returns 0 or negative errno.
 */
int memgroup_end(void);

#endif /* _SELFTESTS_MEMGROUP_H */
