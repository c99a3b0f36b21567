/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the perf maps of processes, and decides if they can be trusted: a wrong name is worse than
 * none. Any user can create files in /tmp, and the kernel reuses process ids.
 */
#ifndef POSIXTRACE_JITMAPS_H
#define POSIXTRACE_JITMAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

struct jitmaps;

/**
 * jitmaps_new() - create a cache of perf maps
 * @root: directory with the files of the traced machine; -1: use the files of this machine
 * @root_path: path of @root, or NULL
 * @maps: where to store the cache; both arguments must outlive it
 *
 * Return: 0 or -ENOMEM.
 */
int jitmaps_new(int root, const char *root_path, struct jitmaps **maps);

/* jitmaps_learn() - see symbols_learn(); reads the log only if there may be perf maps */
int jitmaps_learn(struct jitmaps *maps, struct source *source, bool complete);

/* jitmaps_event() - see symbols_event() */
int jitmaps_event(struct jitmaps *maps, const struct event *event);

/**
 * jitmaps_find() - find the function that a process has compiled to an address
 * @maps: the cache, after jitmaps_learn()
 * @event: an event of the process
 * @address: the address
 * @begin: where to store the start of the function
 * @path: where to store the path of the perf map
 *
 * Reports, once for each process, why its perf map is not used.
 *
 * Return: the name, or NULL if unknown. The name and @path are valid until the next call.
 */
const char *jitmaps_find(struct jitmaps *maps, const struct event *event, uint64_t address,
			 uint64_t *begin, const char **path);

/* jitmaps_free() - free the cache; @maps may be NULL */
void jitmaps_free(struct jitmaps *maps);

#endif /* POSIXTRACE_JITMAPS_H */
