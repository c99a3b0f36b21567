// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_rewind(): Documentation/conformance/posix_trace_rewind.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "stream_state.h"
#include "log_reading.h"

FIXTURE(rewind)
{
	trace_id_t trid;
};

FIXTURE_SETUP(rewind)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(rewind)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(rewind, a01_einval_for_invalid_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_rewind, self->trid));
}

TEST_F(rewind, a02_einval_for_a_stream_without_log)
{
	struct event event;

	record_number(1);
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	record_number(2);
	/* The stream has not changed. */
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	for (int i = 1; i <= 2; i++) {
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(rewind, a02_einval_in_every_state)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
}

TEST_F(rewind, a03_errno_does_not_change)
{
	errno = 4711;
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(4711, errno);
}

/* Opens a log of @events user events with the times 0, 1, 2 ... */
static int log_of(int events, trace_id_t *trid)
{
	struct log_writer log;
	int err;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&log, LOG_FIRST_NAMED, "named");
	log_epochs(&log, 0, 1, events / 2);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	err = log_open(&log, trid);
	log_free(&log);
	return err;
}

TEST(a04_next_event_is_the_oldest)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, log_of(40, &trid));
	for (int from = 0; from <= 41; from++) {
		for (int i = 0; i < from; i++)
			EXPECT_EQ(i < 40, log_take(trid, &event));
		ASSERT_EQ(0, posix_trace_rewind(trid));
		ASSERT_EQ(1, log_take(trid, &event));
		EXPECT_EQ(0, log_time(&event));
		ASSERT_EQ(0, posix_trace_rewind(trid));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST(a05_other_positions_do_not_change)
{
	struct log_writer log;
	trace_id_t trid[2];
	struct event event;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&log, 0, 1, 10);
	fd = log_file(&log);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, posix_trace_open(fd, &trid[i]));
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(1, log_take(trid[0], &event));
		ASSERT_EQ(1, log_take(trid[1], &event));
		EXPECT_EQ((__u64)i, log_time(&event));
		EXPECT_EQ(0, posix_trace_rewind(trid[0]));
	}
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, posix_trace_close(trid[i]));
	close(fd);
	log_free(&log);
}

TEST(a06_cancelled_thread_holds_no_lock)
{
	struct event event;
	trace_id_t trid;
	int ret;

	ASSERT_EQ(0, log_of(20, &trid));
	ret = call_cancelled(posix_trace_rewind, trid);
	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(0, log_time(&event));
	EXPECT_EQ(0, posix_trace_rewind(trid));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_HARNESS_MAIN
