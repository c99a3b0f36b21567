/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the door: a running stream without records on the process, and an event for it.
 */
#ifndef _SELFTESTS_DOOR_H
#define _SELFTESTS_DOOR_H

#include "pxt_test.h"
#include "knock.h"
#include "process.h"
#include "uapi.h"

static inline int door_open(struct target *target, struct stream *stream)
{
	struct record start;
	int err = target_map(target);

	if (!err)
		err = stream_create(stream, 0);
	if (!err)
		err = stream_start(stream);
	return err ? err : stream_take(stream, &start, NULL, 0) != 1;
}

FIXTURE(door)
{
	struct target target;
	struct stream stream;
	struct posixtrace_event event;
};

FIXTURE_SETUP(door)
{
	ASSERT_EQ(0, door_open(&self->target, &self->stream));
	self->event = (struct posixtrace_event){ .event_id = POSIXTRACE_ID_UNNAMED };
}

FIXTURE_TEARDOWN(door)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

#endif /* _SELFTESTS_DOOR_H */
