// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_destroy(): Documentation/conformance/posix_trace_attr_destroy.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"
#include "trace_test.h"

TEST_F(attr, a01_no_function_accepts_it)
{
	struct attr_values values;
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, attr_read(&self->attr, &values));
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxusereventsize(&self->attr, 1, &size));
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxsystemeventsize(&self->attr, &size));
	EXPECT_EQ(EINVAL, posix_trace_attr_setname(&self->attr, "name"));
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamsize(&self->attr, 64 << 10));
}

TEST_F(attr, a01_no_stream_can_be_created_with_it)
{
	trace_id_t trid = 4711;

	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &trid));
	EXPECT_EQ(4711, trid);
}

TEST_F(attr, a02_can_be_initialized_again)
{
	struct attr_values values;
	trace_attr_t granted;

	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	EXPECT_EQ(0, attr_read(&self->attr, &values));
	EXPECT_EQ(0, attr_granted(&self->attr, &granted));
	EXPECT_EQ(0, posix_trace_attr_destroy(&self->attr));
}

TEST_F(attr, a03_streams_remain)
{
	char data[40] = "data";
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 10));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	memset(&self->attr, 0xff, sizeof(self->attr));
	ASSERT_EQ(0, posix_trace_start(trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(10, event.len);
	EXPECT_EQ(0, memcmp(data, event.data, 10));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a04_returns_the_error_number)
{
	errno = 4711;
	EXPECT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(4711, errno);
}

TEST_F(invalid, a05_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_destroy(self->attr));
}

TEST_HARNESS_MAIN
