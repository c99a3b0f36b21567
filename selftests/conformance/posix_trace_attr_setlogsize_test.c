// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogsize(): Documentation/conformance/posix_trace_attr_setlogsize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "attr_fixture.h"
#include "withlog.h"

TEST_F(attr, a01_sets_only_this_attribute)
{
	const long sizes[] = { 12345678, 0, 1, 1UL << 40, INT64_MAX };

	expect_set_alone(_metadata, &attr_log_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(invalid, a04_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setlogsize(self->attr, 65536));
}

TEST_F(attr, a05_too_large)
{
	const long sizes[] = { (size_t)INT64_MAX + 1, SIZE_MAX };

	expect_refused(_metadata, &attr_log_size, &self->attr, 54321, sizes,
		       ARRAY_SIZE(sizes));
}

TEST(a02_limits_loop_and_until_full)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	/* A log of 16 MiB would not be full. */
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_LOOP, 4000, fd, &content));
	EXPECT_GT((32 << 10) / (16 + 8), content.numbers);
	ASSERT_EQ(0, ftruncate(fd, 0));
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 4000, fd, &content));
	EXPECT_GT((32 << 10) / (16 + 8), content.numbers);
	EXPECT_LT(200, content.numbers);
	close(fd);
}

TEST(a03_does_not_limit_append)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_APPEND, 4000, fd, &content));
	EXPECT_TRUE(log_content_is(&content, 4000));
	close(fd);
}

TEST_HARNESS_MAIN
