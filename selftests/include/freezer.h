/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freezes tasks as suspend does: by the freezer of cgroup v1, or, where the kernel lacks it, by
 * a suspend that ends when all tasks are frozen (pm_test).
 */
#ifndef _SELFTESTS_FREEZER_H
#define _SELFTESTS_FREEZER_H

#include <stdbool.h>
#include <sys/types.h>

#include "textfile.h"

/**
 * struct freezer - the means
 * @group: the freezer of cgroup v1; otherwise pm_test
 */
struct freezer {
	bool group;
};

/* The tasks that were frozen have ended. */
void freezer_end(void);

/* 0 or negative errno. */
int freezer_begin(struct freezer *freezer);

/* Puts a thread into the group, which may be frozen: 0 or negative errno. */
int freezer_add(pid_t tid);

/* Freezes the group: 0; -EBUSY if a thread does not freeze within @seconds; negative errno. */
int freezer_freeze(int seconds);

int freezer_thaw(void);

/*
 * Freezes a thread, and lets it go on: 0; -EBUSY if it does not freeze within @seconds;
 * other negative errno.
 */
int freezer_try(const struct freezer *freezer, pid_t tid, int seconds);

#endif /* _SELFTESTS_FREEZER_H */
