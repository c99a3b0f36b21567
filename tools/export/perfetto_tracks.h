/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracks of a machine in a Perfetto trace. Each is described before its first event.
 */
#ifndef POSIXTRACE_PERFETTO_TRACKS_H
#define POSIXTRACE_PERFETTO_TRACKS_H

#include <stdint.h>
#include <sys/types.h>

#include "event/source.h"
#include "export/export.h"
#include "export/perfetto_packets.h"

/* Track ids: the kind in the lowest bits, a number above it. Most ids have one or two bytes. */
#define TRACK(kind, number)	((uint64_t)(number) << 3 | (kind))
#define TRACK_LOST		TRACK(0, 1)
#define TRACK_SYSTEM		TRACK(0, 2)
#define TRACK_PATHS		TRACK(0, 3)
#define TRACK_THREAD(number)	TRACK(1, number)
#define TRACK_PROCESS(process)	TRACK(2, process)
#define TRACK_INTERRUPTS(number) TRACK(3, number)
#define TRACK_STEM(number, type) TRACK(4, (uint64_t)(number) * EXPORT_TYPES + (type))
#define TRACK_COUNTER(process, type) TRACK(5, (uint64_t)(process) * EXPORT_TYPES + (type))
#define TRACK_PATH(index)	TRACK(6, index)

struct perfetto_tracks;

/**
 * perfetto_tracks_new() - create a machine without tracks
 * @packets: where to describe them
 * @tracks: result; also to be freed after an error
 *
 * Return: 0 or -ENOMEM.
 */
int perfetto_tracks_new(struct packets *packets, struct perfetto_tracks **tracks);

void perfetto_tracks_free(struct perfetto_tracks *tracks);

/* perfetto_tracks_name() - describe a track below @parent, or 0, unless a cache has it already */
void perfetto_tracks_name(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
			  const char *name);

/**
 * perfetto_tracks_find() - find the track of an event's thread
 * @tracks: the tracks
 * @event: the event
 * @number: result: number of the thread, or THREADS_OTHERS
 * @track: result
 *
 * Return: 0 or negative errno.
 */
int perfetto_tracks_find(struct perfetto_tracks *tracks, const struct event *event,
			 uint32_t *number, uint64_t *track);

/**
 * perfetto_tracks_counter() - find the track of a counter
 * @tracks: the tracks
 * @event: a value of the counter
 * @track: result. It is described again if a different process has used the same event type since
 *
 * Return: 0 or negative errno.
 */
int perfetto_tracks_counter(struct perfetto_tracks *tracks, const struct event *event,
			    uint64_t *track);

/* perfetto_tracks_thread() - get the track of a thread; returns 0 if it has no separate one */
uint64_t perfetto_tracks_thread(struct perfetto_tracks *tracks, pid_t pid, uint64_t key);

#endif /* POSIXTRACE_PERFETTO_TRACKS_H */
