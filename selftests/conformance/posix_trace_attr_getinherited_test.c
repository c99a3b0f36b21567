// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getinherited(): Documentation/conformance/posix_trace_attr_getinherited.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	const long policies[] = { POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD };

	expect_stored(_metadata, &attr_inherited, &self->attr, policies, ARRAY_SIZE(policies));
}

TEST_F(attr, a02_default)
{
	expect_value(_metadata, &attr_inherited, &self->attr, POSIX_TRACE_CLOSE_FOR_CHILD);
}

TEST_F(attr, a03_stream_has_the_value)
{
	trace_attr_t granted;
	int policy = -1;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	EXPECT_EQ(0, posix_trace_attr_getinherited(&granted, &policy));
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, policy);
}

TEST_F(invalid, a04_invalid_object)
{
	int policy;

	EXPECT_EQ(EINVAL, posix_trace_attr_getinherited(self->attr, &policy));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getinherited(&self->attr, NULL));
}

TEST_HARNESS_MAIN
