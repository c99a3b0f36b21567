// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_open(): Documentation/conformance/posix_trace_open.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "stream_state.h"

/* What trid is before a call that must not write it. */
#define UNTOUCHED	4711

TEST(a01_ebadf_for_a_number_that_is_no_descriptor)
{
	trace_id_t trid = UNTOUCHED;

	EXPECT_EQ(EBADF, posix_trace_open(-1, &trid));
	EXPECT_EQ(EBADF, posix_trace_open(INT_MIN, &trid));
	EXPECT_EQ(UNTOUCHED, trid);
}

TEST(a02_einval_without_a_place_for_the_result)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(EINVAL, posix_trace_open(fd, NULL));
	close(fd);
}

/* Whatever the error: a file that is no log gives no trace id. */
TEST(a03_result_is_written_only_on_success)
{
	trace_id_t trid = UNTOUCHED;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_NE(0, posix_trace_open(fd, &trid));
	EXPECT_EQ(UNTOUCHED, trid);
	close(fd);
}

TEST(a04_errno_is_left_alone)
{
	trace_id_t trid;

	errno = 4711;
	EXPECT_EQ(EBADF, posix_trace_open(-1, &trid));
	EXPECT_EQ(4711, errno);
}

TEST_HARNESS_MAIN
