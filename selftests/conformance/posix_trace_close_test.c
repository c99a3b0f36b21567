// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_close(): Documentation/conformance/posix_trace_close.rst
 */
#define _GNU_SOURCE
#include "log_function.h"
#include "log_reading.h"

TEST_F(until_full, a01_einval_for_invalid_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_close, self->trid));
}

TEST_F(until_full, a02_einval_for_a_stream_without_log)
{
	expect_einval_without_log(_metadata, posix_trace_close, self->trid);
}

TEST_F(until_full, a02_einval_in_every_state)
{
	expect_einval_in_every_state(_metadata, posix_trace_close, self->trid);
}

TEST_F(until_full, a03_errno_does_not_change)
{
	expect_errno_kept(_metadata, posix_trace_close, self->trid, EINVAL);
}

TEST(a04_trace_id_is_invalid_afterwards)
{
	struct posix_trace_status_info status;
	struct event event;
	trace_attr_t attr;
	trace_id_t trid;

	ASSERT_EQ(0, log_open_events(20, &trid));
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(EINVAL, posix_trace_close(trid));
	EXPECT_EQ(EINVAL, posix_trace_rewind(trid));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(trid, &attr));
	EXPECT_EQ(EINVAL, posix_trace_get_status(trid, &status));
	EXPECT_EQ(-EINVAL, log_take(trid, &event));
	EXPECT_EQ(0, posix_trace_eventid_equal(trid, 64, 64));
}

TEST(a05_resources_are_freed_and_the_file_is_unchanged)
{
	unsigned char *after;
	struct log_writer log;
	struct log_sum sum;
	int fd, before;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&log, 0, 2, 50);
	fd = log_file(&log);
	before = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(before);
	/* More rounds than a process can have trace ids or descriptors. */
	for (int i = 0; i < 5000; i++) {
		log_sum_fd(fd, &sum);
		ASSERT_EQ(0, sum.err);
		ASSERT_EQ(200, sum.events);
	}
	EXPECT_EQ(before, fcntl(fd, F_DUPFD_CLOEXEC, 3));
	after = malloc(log.len);
	ASSERT_NE(NULL, after);
	EXPECT_EQ((ssize_t)log.len, pread(fd, after, log.len, 0));
	EXPECT_EQ(0, memcmp(log.data, after, log.len));
	EXPECT_EQ((off_t)log.len, lseek(fd, 0, SEEK_END));
	free(after);
	close(fd);
	log_free(&log);
}

TEST(a06_other_trace_ids_remain_valid)
{
	struct log_writer log;
	trace_id_t trid[3];
	struct log_sum sum;
	struct event event;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&log, 0, 2, 50);
	fd = log_file(&log);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_open(fd, &trid[i]));
		ASSERT_EQ(1, log_take(trid[i], &event));
	}
	EXPECT_EQ(0, posix_trace_close(trid[1]));
	for (int i = 0; i < 3; i += 2) {
		log_sum_rest(trid[i], &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(199, sum.events);
		EXPECT_EQ(0, posix_trace_close(trid[i]));
	}
	close(fd);
	log_free(&log);
}

TEST(a07_cancelled_thread_leaves_it_open_or_closed)
{
	trace_id_t trid;
	int ret;

	ASSERT_EQ(0, log_open_events(20, &trid));
	ret = call_trid_cancelled(posix_trace_close, trid);
	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_EQ(ret ? 0 : EINVAL, posix_trace_close(trid));
	ASSERT_EQ(0, log_open_events(20, &trid));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_HARNESS_MAIN
