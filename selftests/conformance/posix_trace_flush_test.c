// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_flush(): Documentation/conformance/posix_trace_flush.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "stream_state.h"

FIXTURE(flush)
{
	trace_id_t trid;
};

FIXTURE_SETUP(flush)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(flush)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(flush, a01_einval_for_what_is_no_trace_id)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_flush, self->trid));
}

TEST_F(flush, a02_einval_for_a_stream_without_log)
{
	struct event event;

	record_number(1);
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	record_number(2);
	/* It is as it was. */
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	for (int i = 1; i <= 2; i++) {
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(flush, a02_in_whatever_state_it_is)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
}

TEST_F(flush, a03_errno_is_left_alone)
{
	errno = 4711;
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	EXPECT_EQ(4711, errno);
}

TEST_HARNESS_MAIN
