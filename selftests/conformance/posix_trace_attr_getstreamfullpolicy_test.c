// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getstreamfullpolicy():
 * Documentation/conformance/posix_trace_attr_getstreamfullpolicy.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"
#include "withlog.h"

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	const long policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH };

	expect_stored(_metadata, &attr_stream_policy, &self->attr, policies, ARRAY_SIZE(policies));
}

TEST_F(attr, a02_default)
{
	expect_value(_metadata, &attr_stream_policy, &self->attr, POSIX_TRACE_LOOP);
}

TEST_F(attr, a03_stream_without_log_has_the_default)
{
	trace_attr_t granted;
	int policy = -1;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&granted, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
	ASSERT_EQ(0, attr_granted(NULL, &granted));
	policy = -1;
	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&granted, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
}

TEST_F(attr, a03_stream_has_the_value)
{
	const long policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	expect_granted(_metadata, &attr_stream_policy, &self->attr, policies, ARRAY_SIZE(policies));
}

TEST_F(invalid, a05_invalid_object)
{
	int policy;

	EXPECT_EQ(EINVAL, posix_trace_attr_getstreamfullpolicy(self->attr, &policy));
}

TEST_F(attr, a05_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getstreamfullpolicy(&self->attr, NULL));
}

TEST(a04_default_of_a_stream_with_log_is_flush)
{
	int fd = log_tmpfile(), policy;
	trace_attr_t attr;
	trace_id_t trid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_create_withlog(0, &attr, fd, &trid));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &attr));
	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_FLUSH, policy);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	close(fd);
}

TEST_HARNESS_MAIN
