// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogsize(): Documentation/conformance/posix_trace_attr_setlogsize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "attr_fixture.h"
#include "logged_stream.h"

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

TEST_F(log_file, a02_limits_loop_and_until_full)
{
	/* With the largest size, 16 MiB, these events would not fill the log. */
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_LOOP, 4000, self->fd, &self->content));
	EXPECT_GT((32 << 10) / (16 + 8), self->content.numbers);
	ASSERT_EQ(0, ftruncate(self->fd, 0));
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 4000, self->fd, &self->content));
	EXPECT_GT((32 << 10) / (16 + 8), self->content.numbers);
	EXPECT_LT(200, self->content.numbers);
}

TEST_F(log_file, a03_does_not_limit_append)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_APPEND, 4000, self->fd, &self->content));
	EXPECT_TRUE(log_content_is(&self->content, 4000));
}

TEST_HARNESS_MAIN
