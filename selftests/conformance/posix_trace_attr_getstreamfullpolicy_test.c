// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getstreamfullpolicy():
 * Documentation/conformance/posix_trace_attr_getstreamfullpolicy.rst
 */
#define _GNU_SOURCE
#include "attr_test.h"
#include "pxt_test.h"
#include "withlog.h"

FIXTURE(attr)
{
	trace_attr_t attr;
};

FIXTURE_SETUP(attr)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

FIXTURE_TEARDOWN(attr)
{
	posix_trace_attr_destroy(&self->attr);
}

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	int policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH };
	int policy;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, policies[i]));
		policy = -1;
		EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&self->attr, &policy));
		EXPECT_EQ(policies[i], policy);
	}
}

TEST_F(attr, a02_default)
{
	int policy = -1;

	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
}

TEST_F(attr, a03_of_a_stream_without_log)
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

TEST_F(attr, a03_of_a_stream_with_a_policy)
{
	int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	trace_attr_t granted;
	int policy;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, policies[i]));
		ASSERT_EQ(0, attr_granted(&self->attr, &granted));
		policy = -1;
		EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&granted, &policy));
		EXPECT_EQ(policies[i], policy);
	}
}

TEST(a05_invalid_objects)
{
	trace_attr_t attr;
	int policy;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, posix_trace_attr_getstreamfullpolicy(attr_invalid(i, &attr),
								       &policy));
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
