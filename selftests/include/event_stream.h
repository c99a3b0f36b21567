/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of posix_trace_event(): a running stream of the process, and events for it.
 */
#ifndef _SELFTESTS_EVENT_STREAM_H
#define _SELFTESTS_EVENT_STREAM_H

#include "pxt_test.h"
#include "trace_test.h"

#define UNNAMED		POSIX_TRACE_UNNAMED_USEREVENT

FIXTURE(event)
{
	trace_id_t trid;
	trace_event_id_t id;
};

FIXTURE_SETUP(event)
{
	struct event start;

	ASSERT_EQ(0, posix_trace_eventid_open("event", &self->id));
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(1, take(self->trid, &start));
}

FIXTURE_TEARDOWN(event)
{
	posix_trace_shutdown(self->trid);
}

static inline void record(int number)
{
	posix_trace_event(UNNAMED, &number, sizeof(number));
}

#endif /* _SELFTESTS_EVENT_STREAM_H */
