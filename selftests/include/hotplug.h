/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs that go offline and come back. CPU 0 always stays online. A program that uses
 * this skips as a whole on a machine with one CPU.
 */
#ifndef _SELFTESTS_HOTPLUG_H
#define _SELFTESTS_HOTPLUG_H

#include <stdbool.h>

#include "process.h"

/* The number of CPUs that have consecutive numbers from 0 on. */
unsigned int count_cpus(void);

/* Returns once the change is complete: 0, also if there was nothing to do, or negative errno. */
int switch_cpu(unsigned int cpu, bool online);

int switch_all_on(void);

/* Moves the calling thread to a CPU. Returns 0, or -EINVAL if the CPU is offline. */
int go_to_cpu(unsigned int cpu);

/* From now on CPUs may be switched off: all come back, however the test ends. */
int hotplug_begin(struct child *guard);

/* Returns once all CPUs are online: 0, or nonzero on failure. */
int hotplug_end(struct child *guard);

#endif /* _SELFTESTS_HOTPLUG_H */
