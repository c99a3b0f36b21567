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
static inline unsigned int records_per_subbuf(const struct stream *stream)
{
	return (stream->ctrl->subbuf_size - sizeof(struct posixtrace_writer)) /
	       POSIXTRACE_RECORD_STEP(sizeof(struct payload));
}

/* A running stream of the caller. */
static inline int open_stream(struct stream *stream, struct target *target,
			      unsigned int policy, unsigned long long size)
{
	int err = target_open(target);

	if (err)
		return err;
	create_init(&stream->arg, 0);
	stream->arg.attr.stream_policy = policy;
	stream->arg.attr.stream_size = size;
	err = stream_open(stream);
	if (!err)
		err = target_sync(target);
	return err ? err : stream_start(stream);
}

/* Records an event on an online CPU, and returns to CPU 0. */
static inline int record_on(struct target *target, unsigned int cpu, int number)
{
	struct payload payload = { .number = number };
	int ret = go_to_cpu(cpu);

	if (!ret)
		ret = target_event(target, POSIXTRACE_ID_UNNAMED, &payload, sizeof(payload));
	return go_to_cpu(0) ? -ESRCH : ret;
}

/* The number of the next user event above the overwrite watermark, -1 if there is none. */
static inline int take_number(struct stream *stream)
{
	struct record record;
	struct payload payload;

	while (stream_take(stream, &record, &payload, sizeof(payload)) == 1) {
		if (record.event_id >= POSIXTRACE_ID_UNNAMED &&
		    record.timestamp > LOAD(stream->ctrl->overwrite_watermark))
			return payload.number;
	}
	return -1;
}

static inline unsigned long long lost_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0ULL : status.lost;
}

static inline unsigned int flags_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0U : status.flags;
}

/* The number of sub-buffers for user events in use. */
static inline unsigned int count_used(struct stream *stream)
{
	unsigned int i, used = 0;

	for (i = 0; i < stream->ctrl->nr_subbufs; i++)
		used += LOAD(stream_subbuf(stream, i)->state) != POSIXTRACE_SUBBUF_FREE;
	return used;
}

#endif /* _SELFTESTS_HOTPLUG_STREAM_H */
