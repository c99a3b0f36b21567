// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_create_withlog(): Documentation/conformance/posix_trace_create_withlog.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "stream_state.h"

/* What trid is before a call that must not write it. */
#define UNTOUCHED	4711

FIXTURE(withlog)
{
	trace_attr_t attr;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(withlog)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	self->trid = UNTOUCHED;
	self->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(withlog)
{
	close(self->fd);
}

TEST_F(withlog, a01_ebadf_for_a_number_that_is_no_descriptor)
{
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, -1, &self->trid));
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, NULL, INT_MIN, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

TEST_F(withlog, a02_einval_for_attributes_that_are_not_initialized)
{
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	memset(&self->attr, 0, sizeof(self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

TEST_F(withlog, a03_einval_without_a_place_for_the_result)
{
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, NULL));
}

TEST_F(withlog, a04_call_that_fails_leaves_the_file_alone)
{
	ASSERT_EQ(7, write(self->fd, "content", 7));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, NULL, self->fd, NULL));
	EXPECT_EQ(7, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(7, lseek(self->fd, 0, SEEK_END));
}

TEST_F(withlog, a05_errno_is_left_alone)
{
	errno = 4711;
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, -1, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, NULL));
	EXPECT_EQ(4711, errno);
}

TEST_HARNESS_MAIN
