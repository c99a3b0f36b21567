// SPDX-License-Identifier: GPL-2.0
/* A memory cgroup. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memgroup.h"

#define MEMGROUP_ROOT	"/tmp/posixtrace.cgroup"
#define MEMGROUP	MEMGROUP_ROOT "/test"

int memgroup_begin(const char *limit)
{
	int err;

	mkdir(MEMGROUP_ROOT, 0755);
	if (mount("none", MEMGROUP_ROOT, "cgroup2", 0, NULL))
		return -errno;
	err = write_text(MEMGROUP_ROOT "/cgroup.subtree_control", "+memory");
	if (!err && mkdir(MEMGROUP, 0755))
		err = -errno;
	return err ? err : write_text(MEMGROUP "/memory.max", limit);
}

int memgroup_enter(void)
{
	return write_text(MEMGROUP "/cgroup.procs", "0");
}

long memgroup_current(void)
{
	FILE *file = fopen(MEMGROUP "/memory.current", "re");
	long value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

int memgroup_shrink(void)
{
	int err = write_text(MEMGROUP "/memory.high", "0");

	return err ? err : write_text(MEMGROUP "/memory.high", "max");
}

long memgroup_event(const char *name)
{
	FILE *file = fopen(MEMGROUP "/memory.events", "re");
	long value, found = -1;
	char key[32];

	if (!file)
		return -1;
	while (fscanf(file, "%31s %ld", key, &value) == 2) {
		if (!strcmp(key, name))
			found = value;
	}
	fclose(file);
	return found;
}

int memgroup_end(void)
{
	int err;

	while (rmdir(MEMGROUP)) {
		if (errno != EBUSY)
			return -errno;
		sched_yield();
	}
	err = write_text(MEMGROUP_ROOT "/cgroup.subtree_control", "-memory");
	if (err)
		return err;
	if (umount(MEMGROUP_ROOT))
		return -errno;
	return rmdir(MEMGROUP_ROOT) ? -errno : 0;
}
