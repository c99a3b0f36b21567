// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setstreamsize(): Documentation/conformance/posix_trace_attr_setstreamsize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "attr_fixture.h"
#include "trace_test.h"

TEST_F(attr, a01_sets_only_this_attribute)
{
	const long sizes[] = { 0, 1, 12345, 64 << 10, 1 << 30 };

	expect_set_alone(_metadata, &attr_stream_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(attr, a02_stream_has_at_least_that_size)
{
	size_t sizes[] = { 0, 1, 4096, 8191, 8192, 8193, 64 << 10, 100001, 1 << 20, 8 << 20 };
	size_t data[] = { 0, 100, 1024, 65488 };
	trace_attr_t granted;
	size_t size;

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 4; k++) {
			ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, sizes[i]));
			ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, data[k]));
			ASSERT_EQ(0, attr_granted(&self->attr, &granted));
			ASSERT_EQ(0, posix_trace_attr_getstreamsize(&granted, &size));
			EXPECT_LE(sizes[i], size);
			/* The size granted has space for at least one event of the largest size. */
			EXPECT_LE(48 + data[k], size);
		}
	}
}

TEST_F(attr, a02_smallest_stream_records)
{
	char data[200] = "data";
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 0));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	for (int i = 0; i < 10; i++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
		EXPECT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(sizeof(data), event.len);
	}
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(invalid, a03_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamsize(self->attr, 65536));
}

TEST_F(attr, a04_too_large)
{
	const long sizes[] = { (1UL << 30) + 1, 1UL << 32, SIZE_MAX };

	expect_refused(_metadata, &attr_stream_size, &self->attr, 54321, sizes,
		       ARRAY_SIZE(sizes));
}

TEST_HARNESS_MAIN
