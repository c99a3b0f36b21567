/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of XSH 2.11, reading: a running stream with space for all events. Its first event
 * has been read.
 */
#ifndef _SELFTESTS_READING_STREAM_H
#define _SELFTESTS_READING_STREAM_H

#include "pxt_test.h"
#include "reading.h"

FIXTURE(reading)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(reading)
{
	trace_attr_t attr;

	/* Make the stream large enough for all events. */
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(reading)
{
	posix_trace_shutdown(self->trid);
}

#define ROOM	sizeof(((struct event *)0)->data)

static const struct timespec never = { INT32_MAX, 0 };

#endif /* _SELFTESTS_READING_STREAM_H */
