// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogfullpolicy():
 * Documentation/conformance/posix_trace_attr_setlogfullpolicy.rst
 */
#define _GNU_SOURCE
#include <limits.h>

#include "attr_fixture.h"
#include "logged_stream.h"

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

TEST_F(log_file, a02_loop_has_the_most_recent_events)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_LOOP, 4000, self->fd, &self->content));
	EXPECT_LT(0, self->content.first);
	EXPECT_EQ(3999, self->content.last);
	EXPECT_EQ(0, self->content.holes + self->content.errors);
	EXPECT_EQ(POSIX_TRACE_STOP, self->content.last_id);
	EXPECT_EQ(0, self->content.stops_auto);
}

TEST_F(log_file, a03_until_full_flushes_until_the_log_is_full)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 200, self->fd, &self->content));
	EXPECT_TRUE(log_content_is(&self->content, 200));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, self->content.status.posix_log_full_status);
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 4000, self->fd, &self->content));
	EXPECT_EQ(0, self->content.first);
	EXPECT_LT(300, self->content.last);
	EXPECT_EQ(0, self->content.holes + self->content.errors);
	EXPECT_EQ(POSIX_TRACE_FULL, self->content.status.posix_log_full_status);
}

TEST_F(log_file, a04_last_event_of_until_full_is_stop)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 4000, self->fd, &self->content));
	EXPECT_EQ(POSIX_TRACE_STOP, self->content.last_id);
	EXPECT_EQ(1, self->content.stops);
	EXPECT_EQ(1, self->content.stops_auto);
}

TEST_F(log_file, a05_append_has_no_limit)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_APPEND, 4000, self->fd, &self->content));
	EXPECT_TRUE(log_content_is(&self->content, 4000));
	EXPECT_LT(4000 * (16 + 8), log_file_size(self->fd));
}

TEST_HARNESS_MAIN
