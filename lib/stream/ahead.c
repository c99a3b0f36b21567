// SPDX-License-Identifier: MIT
/*
 * Reads ahead for a program that takes events one by one: takes a few records together, with one
 * compare-and-swap for each CPU. This removes them from the stream, so they cannot be overwritten.
 */
#include "stream/ahead.h"
#include "stream/reader.h"
#include "stream/run.h"

static bool take_several(struct pxtu_reader *reader)
{
	struct pxtu_ahead *ahead = &reader->ahead;
	struct pxtu_place place = { ahead->data, sizeof(ahead->data) };
	const __u64 youngest = reader->youngest;
	size_t count;

	count = pxtu_reader_run(reader, ahead->event, PXTU_ARRAY_SIZE(ahead->event), &place);
	/* Do not count these events yet: they are counted when they are reported. */
	reader->youngest = youngest;
	reader->read -= count;
	ahead->next = 0;
	ahead->count = (unsigned int)count;
	return count;
}

const struct posixtrace_batch_event *pxtu_ahead_next(struct pxtu_reader *reader)
{
	const struct posixtrace_batch_event *event;

	/* An event that was put back takes precedence. */
	if (reader->queue.next < reader->queue.count)
		return NULL;
	if (pxtu_ahead_is_empty(reader) && !take_several(reader))
		return NULL;
	event = pxtu_ahead_first(reader);
	pxtu_reader_restart(reader);
	return event;
}
