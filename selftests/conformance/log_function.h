/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of functions that need a stream with log, or a log: they refuse a stream without log, here
 * the stream of the fixture "until_full".
 */
#ifndef _SELFTESTS_LOG_FUNCTION_H
#define _SELFTESTS_LOG_FUNCTION_H

#include "stream_fixtures.h"
#include "stream_state.h"

/* The call fails with EINVAL, and does not change the stream. */
static inline void expect_einval_without_log(struct __test_metadata *_metadata,
					     int (*fn)(trace_id_t trid), trace_id_t trid)
{
	struct event event;

	record_number(1);
	EXPECT_EQ(EINVAL, fn(trid));
	record_number(2);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	EXPECT_EQ(EINVAL, fn(trid));
	for (int i = 1; i <= 2; i++) {
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, take(trid, &event));
}

/*
 * The call also fails with EINVAL if the stream is suspended or full, and does not change the
 * state.
 */
static inline void expect_einval_in_every_state(struct __test_metadata *_metadata,
						int (*fn)(trace_id_t trid), trace_id_t trid)
{
	ASSERT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(EINVAL, fn(trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	overfill(0);
	EXPECT_EQ(EINVAL, fn(trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(trid));
}

#endif /* _SELFTESTS_LOG_FUNCTION_H */
