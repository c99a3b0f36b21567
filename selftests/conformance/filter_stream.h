/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of posix_trace_set_filter(): a stream, three event types, and a list of the
 * recorded ones.
 */
#ifndef _SELFTESTS_FILTER_STREAM_H
#define _SELFTESTS_FILTER_STREAM_H

#include "pxt_test.h"
#include "eventset.h"
#include "trace_test.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT
#define SET	POSIX_TRACE_SET_EVENTSET
#define ADD	POSIX_TRACE_ADD_EVENTSET
#define SUB	POSIX_TRACE_SUB_EVENTSET

FIXTURE(filter)
{
	trace_id_t trid;
	trace_event_id_t a, b, c;
};

FIXTURE_SETUP(filter)
{
	ASSERT_EQ(0, posix_trace_eventid_open("a", &self->a));
	ASSERT_EQ(0, posix_trace_eventid_open("b", &self->b));
	ASSERT_EQ(0, posix_trace_eventid_open("c", &self->c));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(filter)
{
	posix_trace_shutdown(self->trid);
}

/* Reads all events, and stores their types in order, terminated by 0. */
static inline void take_types(trace_id_t trid, trace_event_id_t *types, int room)
{
	struct event event;

	while (--room && take(trid, &event) == 1)
		*types++ = event.info.posix_event_id;
	*types = 0;
}

#define EXPECT_TYPES(trid, ...) do {						\
	const trace_event_id_t expect_wanted[] = { 0, ##__VA_ARGS__ };		\
	trace_event_id_t expect_types[64];					\
	size_t expect_i;							\
										\
	take_types(trid, expect_types, 64);					\
	for (expect_i = 1; expect_i < ARRAY_SIZE(expect_wanted); expect_i++)	\
		ASSERT_EQ(expect_wanted[expect_i], expect_types[expect_i - 1]);	\
	ASSERT_EQ(0, expect_types[expect_i - 1]);				\
} while (0)

#endif /* _SELFTESTS_FILTER_STREAM_H */
