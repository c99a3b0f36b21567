// SPDX-License-Identifier: GPL-2.0
/* Cgroups with the cpu controller: see cpugroup.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpugroup.h"

#define ROOT	"/tmp/posixtrace.cpugroup"

int cpugroup_begin(void)
{
	mkdir(ROOT, 0755);
	if (mount("none", ROOT, "cgroup2", 0, NULL))
		return -errno;
	return write_text(ROOT "/cgroup.subtree_control", "+cpu") ? -ENOENT : 0;
}

int cpugroup_make(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "/%s", name);
	return mkdir(path, 0755) ? -errno : 0;
}

int cpugroup_limit(const char *name, const char *max)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "/%s/cpu.max", name);
	return write_text(path, max);
}

int cpugroup_enter(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "/%s/cgroup.procs", name);
	return write_text(path, "0");
}

unsigned long long cpugroup_time(const char *name)
{
	unsigned long long value, found = 0;
	char path[128], key[32];
	FILE *file;

	snprintf(path, sizeof(path), ROOT "/%s/cpu.stat", name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fscanf(file, "%31s %llu", key, &value) == 2) {
		if (!strcmp(key, "usage_usec"))
			found = value;
	}
	fclose(file);
	return found * 1000;
}

int cpugroup_remove(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "/%s", name);
	while (rmdir(path)) {
		if (errno != EBUSY)
			return -errno;
		sched_yield();
	}
	return 0;
}

int cpugroup_end(void)
{
	write_text(ROOT "/cgroup.subtree_control", "-cpu");
	if (umount(ROOT))
		return -errno;
	return rmdir(ROOT) ? -errno : 0;
}
