// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setstreamsize(): Documentation/conformance/posix_trace_attr_setstreamsize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "attr_test.h"
#include "pxt_test.h"
#include "trace_test.h"

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

TEST_F(attr, a01_sets_only_this_attribute)
{
	size_t sizes[] = { 0, 1, 12345, 64 << 10, 1 << 30 };
	struct attr_values expected, values;

	ASSERT_EQ(0, attr_read(&self->attr, &expected));
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, sizes[i]));
		expected.stream_size = sizes[i];
		ASSERT_EQ(0, attr_read(&self->attr, &values));
		EXPECT_EQ(0, memcmp(&expected, &values, sizeof(values)));
	}
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
			/* There is space for at least one event of the largest size. */
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

TEST(a03_invalid_objects)
{
	trace_attr_t attr;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, posix_trace_attr_setstreamsize(attr_invalid(i, &attr), 65536));
}

TEST_F(attr, a04_too_large)
{
	size_t sizes[] = { (1UL << 30) + 1, 1UL << 32, SIZE_MAX };
	trace_attr_t before;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 54321));
	before = self->attr;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		EXPECT_EQ(EINVAL, posix_trace_attr_setstreamsize(&self->attr, sizes[i]));
		EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
	}
}

TEST_HARNESS_MAIN
