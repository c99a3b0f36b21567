/* SPDX-License-Identifier: GPL-2.0 */
/* A memory cgroup (one at a time) that measures the memory of its processes. */
#ifndef _SELFTESTS_MEMGROUP_H
#define _SELFTESTS_MEMGROUP_H

#include "textfile.h"

/* Creates it; @limit in bytes, or "max". Returns 0 or negative errno. */
int memgroup_begin(const char *limit);

/* Moves the calling process into the group; its later children inherit it. */
int memgroup_enter(void);

/* Memory use in bytes, or -1. */
long memgroup_current(void);

/* Reclaims memory, including per-CPU stocks of charges. Returns 0 or negative errno. */
int memgroup_shrink(void);

/* The count of an event, or -1. */
long memgroup_event(const char *name);

/* Removes it; its processes have ended or are about to. Returns 0 or negative errno. */
int memgroup_end(void);

#endif /* _SELFTESTS_MEMGROUP_H */
