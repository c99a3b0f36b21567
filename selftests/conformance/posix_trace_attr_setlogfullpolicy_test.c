// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogfullpolicy():
 * Documentation/conformance/posix_trace_attr_setlogfullpolicy.rst
 */
#define _GNU_SOURCE
#include <limits.h>

#include "attr_fixture.h"
#include "withlog.h"

TEST_F(attr, a01_sets_only_this_attribute)
{
	const long policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND };

	expect_set_alone(_metadata, &attr_log_policy, &self->attr, policies, ARRAY_SIZE(policies));
}

TEST_F(invalid, a06_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setlogfullpolicy(self->attr, POSIX_TRACE_UNTIL_FULL));
}

TEST_F(attr, a07_other_policies)
{
	const long policies[] = { POSIX_TRACE_FLUSH, -1, 4, 4711, INT_MAX, INT_MIN };

	expect_refused(_metadata, &attr_log_policy, &self->attr, POSIX_TRACE_UNTIL_FULL, policies,
		       ARRAY_SIZE(policies));
}

TEST(a02_loop_has_the_most_recent_events)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_LOOP, 4000, fd, &content));
	EXPECT_LT(0, content.first);
	EXPECT_EQ(3999, content.last);
	EXPECT_EQ(0, content.holes + content.errors);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(0, content.stops_auto);
	close(fd);
}

TEST(a03_until_full_flushes_until_the_log_is_full)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 200, fd, &content));
	EXPECT_TRUE(log_content_is(&content, 200));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, content.status.posix_log_full_status);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 4000, fd, &content));
	EXPECT_EQ(0, content.first);
	EXPECT_LT(300, content.last);
	EXPECT_EQ(0, content.holes + content.errors);
	EXPECT_EQ(POSIX_TRACE_FULL, content.status.posix_log_full_status);
	close(fd);
}

TEST(a04_last_event_of_until_full_is_stop)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 4000, fd, &content));
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(1, content.stops_auto);
	close(fd);
}

TEST(a05_append_has_no_limit)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_APPEND, 4000, fd, &content));
	EXPECT_TRUE(log_content_is(&content, 4000));
	EXPECT_LT(4000 * (16 + 8), log_file_size(fd));
	close(fd);
}

TEST_HARNESS_MAIN
