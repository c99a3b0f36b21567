/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs that go offline and come back. CPU 0 always stays online. A program that includes
 * this skips as a whole on a machine with one CPU.
 */
#ifndef _SELFTESTS_HOTPLUG_H
#define _SELFTESTS_HOTPLUG_H

#include <stdbool.h>

#include "process.h"
#include "pxt_test.h"

static inline void cpu_path(char *path, size_t size, unsigned int cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u/online", cpu);
}

/* The number of CPUs that have consecutive numbers from 0 on. */
static inline unsigned int count_cpus(void)
{
	char path[64];
	unsigned int cpu;

	for (cpu = 1; ; cpu++) {
		cpu_path(path, sizeof(path), cpu);
		if (access(path, F_OK))
			return cpu;
	}
}

/* SKIP() in a fixture would still run its test. */
static void __attribute__((constructor)) require_two_cpus(void)
{
	if (count_cpus() > 1)
		return;
	printf("TAP version 13\n1..0 # SKIP no CPU that can be switched off\n");
	exit(KSFT_SKIP);
}

/* Returns once the change is complete: 0, also if there was nothing to do, or negative errno. */
static inline int switch_cpu(unsigned int cpu, bool online)
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

static inline int switch_all_on(void)
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

/* Moves the calling thread to a CPU. Returns 0, or -EINVAL if the CPU is offline. */
static inline int go_to_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* A child function: switches all CPUs on once the parent closes the pipe or is killed. */
static inline int switch_on_at_end(void *arg, const struct talk *talk)
{
	(void)arg;
	/* The harness kills the process group of a test that takes too long. */
	setpgid(0, 0);
	say(talk, 0);
	while (hear(talk) != -EPIPE)
		;
	return switch_all_on() ? 1 : 0;
}

/* From now on CPUs may be switched off: all come back, however the test ends. */
static inline int hotplug_begin(struct child *guard)
{
	int err = child_start(guard, switch_on_at_end, NULL);

	if (!err)
		err = hear(&guard->talk);
	return err ? err : switch_all_on();
}

/* Returns once all CPUs are online: 0, or nonzero on failure. */
static inline int hotplug_end(struct child *guard)
{
	return child_wait(guard);
}

#endif /* _SELFTESTS_HOTPLUG_H */
