// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getlogsize(): Documentation/conformance/posix_trace_attr_getlogsize.rst
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

TEST_F(attr, a01_stores_what_was_set)
{
	size_t sizes[] = { 12345678, 0, 1, 1UL << 40 };
	size_t size;

	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, sizes[i]));
		size = 4711;
		EXPECT_EQ(0, posix_trace_attr_getlogsize(&self->attr, &size));
		EXPECT_EQ(sizes[i], size);
	}
}

TEST_F(attr, a02_default)
{
	size_t size = 4711;

	EXPECT_EQ(0, posix_trace_attr_getlogsize(&self->attr, &size));
	EXPECT_EQ(16 << 20, size);
}

TEST_F(attr, a03_of_a_stream)
{
	size_t sizes[] = { 12345678, 0, 1UL << 40 };
	trace_attr_t granted;
	size_t size;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, sizes[i]));
		ASSERT_EQ(0, attr_granted(&self->attr, &granted));
		size = 4711;
		EXPECT_EQ(0, posix_trace_attr_getlogsize(&granted, &size));
		EXPECT_EQ(sizes[i], size);
	}
}

TEST(a05_invalid_objects)
{
	trace_attr_t attr;
	size_t size;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, posix_trace_attr_getlogsize(attr_invalid(i, &attr), &size));
}

TEST_F(attr, a05_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getlogsize(&self->attr, NULL));
}

TEST_HARNESS_MAIN
