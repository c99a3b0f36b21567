// SPDX-License-Identifier: GPL-2.0
/*
 * What later releases bring is declared and says ENOTSUP, after its arguments
 * were looked at, and changes nothing. A case goes when its function comes.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "pxt_test.h"
#include "trace_test.h"

FIXTURE(later)
{
	trace_id_t trid;
};

FIXTURE_SETUP(later)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(later)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(later, create_withlog_leaves_the_file_alone)
{
	trace_id_t trid = 4711;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	ASSERT_LE(0, fd);
	EXPECT_EQ(ENOTSUP, posix_trace_create_withlog(0, NULL, fd, &trid));
	EXPECT_EQ(4711, trid);
	EXPECT_EQ(0, lseek(fd, 0, SEEK_END));
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, NULL, -1, &trid));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, NULL, fd, NULL));
	close(fd);
}

/* Not later, but never: functions of logs on a stream that has none. */
TEST_F(later, functions_of_logs_are_invalid_on_a_stream)
{
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_close(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
}

TEST_HARNESS_MAIN
