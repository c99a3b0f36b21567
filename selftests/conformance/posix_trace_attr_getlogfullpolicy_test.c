// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getlogfullpolicy():
 * Documentation/conformance/posix_trace_attr_getlogfullpolicy.rst
 */
#define _GNU_SOURCE
#include "attr_test.h"
#include "pxt_test.h"

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
	int policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND };
	int policy;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, policies[i]));
		policy = -1;
		EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&self->attr, &policy));
		EXPECT_EQ(policies[i], policy);
	}
}

TEST_F(attr, a02_default)
{
	int policy = -1;

	EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
}

TEST_F(attr, a03_of_a_stream)
{
	int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };
	trace_attr_t granted;
	int policy;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, policies[i]));
		ASSERT_EQ(0, attr_granted(&self->attr, &granted));
		policy = -1;
		EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&granted, &policy));
		EXPECT_EQ(policies[i], policy);
	}
}

TEST(a04_invalid_objects)
{
	trace_attr_t attr;
	int policy;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, posix_trace_attr_getlogfullpolicy(attr_invalid(i, &attr),
								    &policy));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getlogfullpolicy(&self->attr, NULL));
}

TEST_HARNESS_MAIN
