/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Switches CPUs off and on. CPU 0 always remains online. On a machine with only one CPU, all tests
 * of a program that uses this are skipped.
 */
#ifndef _SELFTESTS_HOTPLUG_H
#define _SELFTESTS_HOTPLUG_H

#include <stdbool.h>

#include "process.h"

/* Returns the number of CPUs with consecutive numbers from 0. */
unsigned int count_cpus(void);

/*
 * Switches a CPU. Returns 0 once the change is complete or if the CPU already was in that state, or
 * negative errno.
 */
int switch_cpu(unsigned int cpu, bool online);

int switch_all_on(void);

/* Moves the calling thread to a CPU. Returns 0, or -EINVAL if the CPU is offline. */
int go_to_cpu(unsigned int cpu);

/*
 * Starts a process that switches all CPUs on again, however the test ends. Call it before the first
 * switch.
 */
int hotplug_begin(struct child *guard);

/* Switches all CPUs on and ends that process. Returns 0, or nonzero on failure. */
int hotplug_end(struct child *guard);

#endif /* _SELFTESTS_HOTPLUG_H */
