// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getmaxdatasize(): Documentation/conformance/posix_trace_attr_getmaxdatasize.rst
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
	size_t sizes[] = { 0, 1, 333, 65488 };
	size_t size;

	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, sizes[i]));
		size = 4711;
		EXPECT_EQ(0, posix_trace_attr_getmaxdatasize(&self->attr, &size));
		EXPECT_EQ(sizes[i], size);
	}
}

TEST_F(attr, a02_default)
{
	size_t size = 4711;

	EXPECT_EQ(0, posix_trace_attr_getmaxdatasize(&self->attr, &size));
	EXPECT_EQ(1024, size);
}

TEST_F(attr, a03_of_a_stream)
{
	size_t sizes[] = { 0, 1, 333, 1024, 65488 };
	trace_attr_t granted;
	size_t size;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, sizes[i]));
		ASSERT_EQ(0, attr_granted(&self->attr, &granted));
		size = 4711;
		EXPECT_EQ(0, posix_trace_attr_getmaxdatasize(&granted, &size));
		EXPECT_EQ(sizes[i], size);
	}
}

TEST(a04_invalid_objects)
{
	trace_attr_t attr;
	size_t size;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, posix_trace_attr_getmaxdatasize(attr_invalid(i, &attr), &size));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxdatasize(&self->attr, NULL));
}

TEST_HARNESS_MAIN
