// SPDX-License-Identifier: GPL-2.0
/* Switches CPUs off and on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hotplug.h"

#define SKIPPED	4	/* KSFT_SKIP of kselftest */

static void cpu_path(char *path, size_t size, unsigned int cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u/online", cpu);
}

unsigned int count_cpus(void)
{
	char path[64];
	unsigned int cpu;

	for (cpu = 1; ; cpu++) {
		cpu_path(path, sizeof(path), cpu);
		if (access(path, F_OK))
			return cpu;
	}
}

/* Exit before main(), because SKIP() in a fixture would still run the test. */
static void __attribute__((constructor)) require_two_cpus(void)
{
	if (count_cpus() > 1)
		return;
	printf("TAP version 13\n1..0 # SKIP no CPU that can be switched off\n");
	exit(SKIPPED);
}

int switch_cpu(unsigned int cpu, bool online)
{
	int fd, ret = 0;
	char path[64];

	cpu_path(path, sizeof(path), cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, online ? "1" : "0", 1) != 1)
		ret = -errno;
	close(fd);
	return ret;
}

int switch_all_on(void)
{
	unsigned int cpu, nr = count_cpus();
	int err = 0, ret;

	for (cpu = 1; cpu < nr; cpu++) {
		ret = switch_cpu(cpu, true);
		if (ret)
			err = ret;
	}
	return err;
}

int go_to_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* A child function: switches all CPUs on once the parent closes the pipe or is killed. */
static int switch_on_at_end(void *arg, const struct talk *talk)
{
	(void)arg;
	/* Leave the process group, because the harness kills it if a test takes too long. */
	setpgid(0, 0);
	say(talk, 0);
	while (hear(talk) != -EPIPE)
		;
	return switch_all_on() ? 1 : 0;
}

int hotplug_begin(struct child *guard)
{
	int err = child_start(guard, switch_on_at_end, NULL);

	if (!err)
		err = hear(&guard->talk);
	return err ? err : switch_all_on();
}

int hotplug_end(struct child *guard)
{
	return child_wait(guard);
}
