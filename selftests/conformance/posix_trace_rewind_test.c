// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_rewind(): Documentation/conformance/posix_trace_rewind.rst
 */
#define _GNU_SOURCE
#include "log_function.h"
#include "log_reading.h"

TEST_F(until_full, a01_einval_for_invalid_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_rewind, self->trid));
}

TEST_F(until_full, a02_einval_for_a_stream_without_log)
{
	expect_einval_without_log(_metadata, posix_trace_rewind, self->trid);
}

TEST_F(until_full, a02_einval_in_every_state)
{
	expect_einval_in_every_state(_metadata, posix_trace_rewind, self->trid);
}

TEST_F(until_full, a03_errno_does_not_change)
{
	expect_errno_kept(_metadata, posix_trace_rewind, self->trid, EINVAL);
}

TEST(a04_next_event_is_the_oldest)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, log_open_events(40, &trid));
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

	ASSERT_EQ(0, log_open_events(20, &trid));
	ret = call_trid_cancelled(posix_trace_rewind, trid);
	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(0, log_time(&event));
	EXPECT_EQ(0, posix_trace_rewind(trid));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_HARNESS_MAIN
