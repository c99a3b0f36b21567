/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the number of the last thread that had a certain process id and thread id. This is needed
 * because the kernel reuses ids, and events name other threads by their ids.
 */
#ifndef POSIXTRACE_LATEST_H
#define POSIXTRACE_LATEST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct latest;

/* latest_new() - create an empty table for @max pairs of ids; returns 0 or -ENOMEM */
int latest_new(size_t max, struct latest **latest);

/* latest_set() - note that a thread has these ids now; returns 0 or -ENOMEM */
int latest_set(struct latest *latest, pid_t pid, pid_t tid, uint32_t number);

/* latest_get() - get the number of the thread, 0 if there is none */
uint32_t latest_get(const struct latest *latest, pid_t pid, pid_t tid);

void latest_free(struct latest *latest);

#endif /* POSIXTRACE_LATEST_H */
