/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of CPUs that go offline and come back, with plain commands: numbered, and so large
 * that few of them fill a sub-buffer.
 */
#ifndef _SELFTESTS_HOTPLUG_STREAM_H
#define _SELFTESTS_HOTPLUG_STREAM_H

#include "hotplug.h"
#include "uapi.h"

struct payload {
	int number;
	char filler[196];
};

/* The number of these events in a sub-buffer, if one thread records them. */
unsigned int records_per_subbuf(const struct stream *stream);

/* A running stream of the caller. */
int open_stream(struct stream *stream, struct target *target, unsigned int policy,
		unsigned long long size);

/* Records an event on an online CPU, and returns to CPU 0. */
int record_on(struct target *target, unsigned int cpu, int number);

/* The number of the next user event above the overwrite watermark, -1 if there is none. */
int take_number(struct stream *stream);

unsigned long long lost_of(struct stream *stream);
unsigned int flags_of(struct stream *stream);

/* The number of sub-buffers for user events in use. */
unsigned int count_used(struct stream *stream);

#endif /* _SELFTESTS_HOTPLUG_STREAM_H */
