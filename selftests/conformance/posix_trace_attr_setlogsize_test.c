// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogsize(): Documentation/conformance/posix_trace_attr_setlogsize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

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
	size_t sizes[] = { 12345678, 0, 1, 1UL << 40, INT64_MAX };
	struct attr_values expected, values;

	ASSERT_EQ(0, attr_read(&self->attr, &expected));
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(0, posix_trace_attr_setlogsize(&self->attr, sizes[i]));
		expected.log_size = sizes[i];
		ASSERT_EQ(0, attr_read(&self->attr, &values));
		EXPECT_EQ(0, memcmp(&expected, &values, sizeof(values)));
	}
}

TEST(a04_invalid_objects)
{
	trace_attr_t attr;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, posix_trace_attr_setlogsize(attr_invalid(i, &attr), 65536));
}

TEST_F(attr, a05_too_large)
{
	size_t sizes[] = { (size_t)INT64_MAX + 1, SIZE_MAX };
	trace_attr_t before;

	ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, 54321));
	before = self->attr;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		EXPECT_EQ(EINVAL, posix_trace_attr_setlogsize(&self->attr, sizes[i]));
		EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
	}
}

TEST_HARNESS_MAIN
