/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Switches CPUs off and on. CPU 0 always stays online. With only one CPU, a program that uses this
 * skips as a whole.
 */
#ifndef _SELFTESTS_HOTPLUG_H
#define _SELFTESTS_HOTPLUG_H

#include <stdbool.h>

#include "process.h"

/* The number of CPUs with consecutive numbers from 0. */
unsigned int count_cpus(void);

/*
 * Returns 0 once the change is complete or if the CPU already was in that state, or negative
 * errno.
 */
int switch_cpu(unsigned int cpu, bool online);

int switch_all_on(void);

/* Moves the calling thread to a CPU. Returns 0, or -EINVAL if the CPU is offline. */
int go_to_cpu(unsigned int cpu);

/* Call this before switching CPUs off, so that all come back, however the test ends. */
int hotplug_begin(struct child *guard);

/* Returns 0 once all CPUs are online, or nonzero on failure. */
int hotplug_end(struct child *guard);

#endif /* _SELFTESTS_HOTPLUG_H */
