/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the stretches that overlap a window: see tracks.h.
 */
#ifndef POSIXTRACE_TRACK_STORE_H
#define POSIXTRACE_TRACK_STORE_H

#include "analyze/tracks.h"

struct track_store;

/* track_store_new() - create an empty store for these windows; returns 0 or -ENOMEM */
int track_store_new(const struct window *windows, size_t count, struct track_store **store);

/**
 * track_store_add() - add a stretch after the others of its track
 * @store: from track_store_new()
 * @thread: number of the thread, not 0
 * @track: which track
 * @stretch: the stretch; a part that overlaps the previous stretch is cut off
 *
 * Return: 0 or -ENOMEM.
 */
int track_store_add(struct track_store *store, uint32_t thread, enum track track,
		    const struct stretch *stretch);

/* track_store_end() - find out which threads ran on each CPU; returns 0 or -ENOMEM */
int track_store_end(struct track_store *store);

/* track_store_find(), track_store_find_run() - see tracks_find() and tracks_find_run() */
const struct stretch *track_store_find(const struct track_store *store, enum track track,
				       uint32_t thread, uint64_t time, const struct stretch **end);
const struct track_run *track_store_find_run(const struct track_store *store, uint32_t cpu,
					     uint64_t time, const struct track_run **end);

/* track_store_more() - check if stretches were left out because there are too many */
bool track_store_more(const struct track_store *store);

void track_store_free(struct track_store *store);

#endif /* POSIXTRACE_TRACK_STORE_H */
