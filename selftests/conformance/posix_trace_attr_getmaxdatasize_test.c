// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getmaxdatasize(): Documentation/conformance/posix_trace_attr_getmaxdatasize.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	const long sizes[] = { 0, 1, 333, 65488 };

	expect_stored(_metadata, &attr_max_data_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(attr, a02_default)
{
	expect_value(_metadata, &attr_max_data_size, &self->attr, 1024);
}

TEST_F(attr, a03_stream_has_the_value)
{
	const long sizes[] = { 0, 1, 333, 1024, 65488 };

	expect_granted(_metadata, &attr_max_data_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(invalid, a04_invalid_object)
{
	size_t size;

	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxdatasize(self->attr, &size));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxdatasize(&self->attr, NULL));
}

TEST_HARNESS_MAIN
