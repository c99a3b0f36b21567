// SPDX-License-Identifier: GPL-2.0
/* Freezes tasks with cgroup v1 or pm_test. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "freezer.h"

#define FREEZER_ROOT	"/tmp/posixtrace.freezer"
#define FREEZER_GROUP	FREEZER_ROOT "/test"
#define FREEZER_STATE	FREEZER_GROUP "/freezer.state"

void freezer_end(void)
{
	rmdir(FREEZER_GROUP);
	umount2(FREEZER_ROOT, MNT_DETACH);
	rmdir(FREEZER_ROOT);
}

int freezer_begin(struct freezer *freezer)
{
	int err;

	/* Remove the group that a failed test may have left. */
	freezer_end();
	mkdir(FREEZER_ROOT, 0755);
	freezer->group = !mount("none", FREEZER_ROOT, "cgroup", 0, "freezer");
	if (freezer->group)
		return mkdir(FREEZER_GROUP, 0755) && errno != EEXIST ? -errno : 0;
	err = write_text("/sys/power/pm_test", "freezer");
	if (!err)
		err = write_text("/sys/power/sync_on_suspend", "0");
	/* Number of seconds for which the tasks stay frozen. */
	return err ? err : write_text("/sys/module/suspend/parameters/pm_test_delay", "0");
}

int freezer_add(pid_t tid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", tid);
	return write_text(FREEZER_GROUP "/tasks", text);
}

static bool freezer_is_frozen(void)
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

int freezer_freeze(int seconds)
{
	int tries = seconds * 100, err;

	/* Repeat the attempt, as suspend does. */
	while (!(err = write_text(FREEZER_STATE, "FROZEN")) && !freezer_is_frozen()) {
		poll(NULL, 0, 10);
		if (!--tries)
			return -EBUSY;
	}
	return err;
}

int freezer_thaw(void)
{
	return write_text(FREEZER_STATE, "THAWED");
}

int freezer_try(const struct freezer *freezer, pid_t tid, int seconds)
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
