/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freezes tasks as suspend does: with the freezer of cgroup v1, or if the kernel lacks it, with a
 * suspend that stops after all tasks are frozen (pm_test).
 */
#ifndef _SELFTESTS_FREEZER_H
#define _SELFTESTS_FREEZER_H

#include <stdbool.h>
#include <sys/types.h>

#include "textfile.h"

/**
 * struct freezer - how to freeze tasks
 * @group: true: use the freezer of cgroup v1; false: use pm_test
 */
struct freezer {
	bool group;
};

/* Removes the group. All tasks that were frozen must have ended. */
void freezer_end(void);

/* Chooses the way to freeze, and creates the group. Returns 0 or negative errno. */
int freezer_begin(struct freezer *freezer);

/* Moves a thread into the group, which may be frozen. Returns 0 or negative errno. */
int freezer_add(pid_t tid);

/*
 * Freezes the group. Returns 0, -EBUSY if a thread does not freeze within @seconds, or another
 * negative errno.
 */
int freezer_freeze(int seconds);

int freezer_thaw(void);

/*
 * Freezes and thaws a thread. Returns 0, -EBUSY if it does not freeze within @seconds, or another
 * negative errno.
 */
int freezer_try(const struct freezer *freezer, pid_t tid, int seconds);

#endif /* _SELFTESTS_FREEZER_H */
