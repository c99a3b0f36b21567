// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getlogsize(): Documentation/conformance/posix_trace_attr_getlogsize.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"
#include "withlog.h"

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	const long sizes[] = { 12345678, 0, 1, 1UL << 40 };

	expect_stored(_metadata, &attr_log_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(attr, a02_default)
{
	expect_value(_metadata, &attr_log_size, &self->attr, 16 << 20);
}

TEST_F(attr, a03_stream_has_the_value)
{
	const long sizes[] = { 12345678, 0, 1UL << 40 };

	expect_granted(_metadata, &attr_log_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(invalid, a05_invalid_object)
{
	size_t size;

	EXPECT_EQ(EINVAL, posix_trace_attr_getlogsize(self->attr, &size));
}

TEST_F(attr, a05_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getlogsize(&self->attr, NULL));
}

/*
 * All events, system events included, are stored as a header and their data. A block stores the
 * thread only once, since it is the same for all its events.
 */
TEST(a04_events_use_at_most_that_size)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	struct log_content content;
	size_t granted, used;
	trace_attr_t attr;
	trace_id_t log;
	int fd;

	for (int i = 0; i < 2; i++) {
		fd = log_tmpfile();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, withlog_fill(policies[i], 4000, fd, &content));
		ASSERT_EQ(0, posix_trace_open(fd, &log));
		ASSERT_EQ(0, posix_trace_get_attr(log, &attr));
		ASSERT_EQ(0, posix_trace_attr_getlogsize(&attr, &granted));
		EXPECT_EQ(0, posix_trace_close(log));
		EXPECT_LE(32 << 10, granted);
		used = (size_t)content.numbers * (16 + 8);
		EXPECT_LT(granted / 2, used);
		EXPECT_GE(granted, used);
		close(fd);
	}
}

TEST_HARNESS_MAIN
