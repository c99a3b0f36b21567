/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records numbered events on CPUs that go offline and come back, without the library. The events
 * are so large that a few of them fill a sub-buffer.
 */
#ifndef _SELFTESTS_HOTPLUG_STREAM_H
#define _SELFTESTS_HOTPLUG_STREAM_H

#include "hotplug.h"
#include "uapi.h"

struct payload {
	int number;
	char filler[196];
};

/* Returns how many of these events fit into a sub-buffer if one thread records all of them. */
unsigned int records_per_subbuf(const struct stream *stream);

/* Opens and starts a stream on the caller. */
int open_stream(struct stream *stream, struct target *target, unsigned int policy,
		unsigned long long size);

/* Records an event on an online CPU, and returns to CPU 0. */
int record_on(struct target *target, unsigned int cpu, int number);

/* Returns the number of the next user event above the overwrite watermark, or -1. */
int take_number(struct stream *stream);

unsigned long long lost_of(struct stream *stream);
unsigned int flags_of(struct stream *stream);

/* Returns the number of sub-buffers in use for user events. */
unsigned int count_used(struct stream *stream);

#endif /* _SELFTESTS_HOTPLUG_STREAM_H */
