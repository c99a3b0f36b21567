/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freezes tasks as suspend does: by the freezer of cgroup v1, or, where the kernel lacks it, by
 * a suspend that ends when all tasks are frozen (pm_test).
 */
#ifndef _SELFTESTS_FREEZER_H
#define _SELFTESTS_FREEZER_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfile.h"

#define FREEZER_ROOT	"/tmp/posixtrace.freezer"
#define FREEZER_GROUP	FREEZER_ROOT "/test"
#define FREEZER_STATE	FREEZER_GROUP "/freezer.state"

/**
 * struct freezer - the means
 * @group: the freezer of cgroup v1; otherwise pm_test
 */
struct freezer {
	bool group;
};

/* The tasks that were frozen have ended. */
static inline void freezer_end(void)
{
	rmdir(FREEZER_GROUP);
	umount2(FREEZER_ROOT, MNT_DETACH);
	rmdir(FREEZER_ROOT);
}

/* 0 or negative errno. */
static inline int freezer_begin(struct freezer *freezer)
{
	int err;

	/* What a test left that failed. */
	freezer_end();
	mkdir(FREEZER_ROOT, 0755);
	freezer->group = !mount("none", FREEZER_ROOT, "cgroup", 0, "freezer");
	if (freezer->group)
		return mkdir(FREEZER_GROUP, 0755) && errno != EEXIST ? -errno : 0;
	err = write_text("/sys/power/pm_test", "freezer");
	if (!err)
		err = write_text("/sys/power/sync_on_suspend", "0");
	/* How long the tasks stay frozen, seconds. */
	return err ? err : write_text("/sys/module/suspend/parameters/pm_test_delay", "0");
}

/* Puts a thread into the group, which may be frozen: 0 or negative errno. */
static inline int freezer_add(pid_t tid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", tid);
	return write_text(FREEZER_GROUP "/tasks", text);
}

static inline bool freezer_is_frozen(void)
{
	FILE *file = fopen(FREEZER_STATE, "re");
	char state[16] = "";

	if (file) {
		if (!fgets(state, sizeof(state), file))
			state[0] = '\0';
		fclose(file);
	}
	return !strcmp(state, "FROZEN\n");
}

/* Freezes the group: 0; -EBUSY if a thread does not freeze within @seconds; negative errno. */
static inline int freezer_freeze(int seconds)
{
	int tries = seconds * 100, err;

	/* As suspend does it: again and again. */
	while (!(err = write_text(FREEZER_STATE, "FROZEN")) && !freezer_is_frozen()) {
		poll(NULL, 0, 10);
		if (!--tries)
			return -EBUSY;
	}
	return err;
}

static inline int freezer_thaw(void)
{
	return write_text(FREEZER_STATE, "THAWED");
}

/*
 * Freezes a thread, and lets it go on: 0; -EBUSY if it does not freeze within @seconds;
 * other negative errno.
 */
static inline int freezer_try(const struct freezer *freezer, pid_t tid, int seconds)
{
	char text[16];
	int err;

	if (!freezer->group) {
		snprintf(text, sizeof(text), "%d", seconds * 1000);
		err = write_text("/sys/power/pm_freeze_timeout", text);
		return err ? err : write_text("/sys/power/state", "freeze");
	}
	err = freezer_add(tid);
	if (!err)
		err = freezer_freeze(seconds);
	freezer_thaw();
	return err;
}

#endif /* _SELFTESTS_FREEZER_H */
