// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getlogfullpolicy():
 * Documentation/conformance/posix_trace_attr_getlogfullpolicy.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	const long policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND };

	expect_stored(_metadata, &attr_log_policy, &self->attr, policies, ARRAY_SIZE(policies));
}

TEST_F(attr, a02_default)
{
	expect_value(_metadata, &attr_log_policy, &self->attr, POSIX_TRACE_LOOP);
}

TEST_F(attr, a03_stream_has_the_value)
{
	const long policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	expect_granted(_metadata, &attr_log_policy, &self->attr, policies, ARRAY_SIZE(policies));
}

TEST_F(invalid, a04_invalid_object)
{
	int policy;

	EXPECT_EQ(EINVAL, posix_trace_attr_getlogfullpolicy(self->attr, &policy));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getlogfullpolicy(&self->attr, NULL));
}

TEST_HARNESS_MAIN
