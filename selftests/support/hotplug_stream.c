// SPDX-License-Identifier: GPL-2.0
/* Numbered events of CPUs that go offline and come back. */
#define _GNU_SOURCE
#include <errno.h>

#include "hotplug_stream.h"

unsigned int records_per_subbuf(const struct stream *stream)
{
	return (stream->ctrl->subbuf_size - sizeof(struct posixtrace_writer)) /
	       POSIXTRACE_RECORD_STEP(sizeof(struct payload));
}

int open_stream(struct stream *stream, struct target *target, unsigned int policy,
		unsigned long long size)
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

int record_on(struct target *target, unsigned int cpu, int number)
{
	struct payload payload = { .number = number };
	int ret = go_to_cpu(cpu);

	if (!ret)
		ret = target_event(target, POSIXTRACE_ID_UNNAMED, &payload, sizeof(payload));
	return go_to_cpu(0) ? -ESRCH : ret;
}

int take_number(struct stream *stream)
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

unsigned long long lost_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0ULL : status.lost;
}

unsigned int flags_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0U : status.flags;
}

unsigned int count_used(struct stream *stream)
{
	unsigned int i, used = 0;

	for (i = 0; i < stream->ctrl->nr_subbufs; i++)
		used += LOAD(stream_subbuf(stream, i)->state) != POSIXTRACE_SUBBUF_FREE;
	return used;
}
