// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogfullpolicy():
 * Documentation/conformance/posix_trace_attr_setlogfullpolicy.rst
 */
#define _GNU_SOURCE
#include <limits.h>

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

TEST_F(attr, a01_sets_it_and_nothing_else)
{
	int policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND };
	struct attr_values expected, values;

	ASSERT_EQ(0, attr_read(&self->attr, &expected));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, policies[i]));
		expected.log_policy = policies[i];
		ASSERT_EQ(0, attr_read(&self->attr, &values));
		EXPECT_EQ(0, memcmp(&expected, &values, sizeof(values)));
	}
}

static int set_invalid(trace_attr_t *attr)
{
	return posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_UNTIL_FULL);
}

TEST(a06_invalid_objects)
{
	trace_attr_t attr;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, set_invalid(attr_invalid(i, &attr)));
}

TEST_F(attr, a07_other_policies)
{
	int policies[] = { POSIX_TRACE_FLUSH, -1, 4, 4711, INT_MAX, INT_MIN };
	trace_attr_t before;

	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	before = self->attr;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		EXPECT_EQ(EINVAL, posix_trace_attr_setlogfullpolicy(&self->attr, policies[i]));
		EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
	}
}

TEST_HARNESS_MAIN
