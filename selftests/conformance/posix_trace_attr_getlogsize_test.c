// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getlogsize(): Documentation/conformance/posix_trace_attr_getlogsize.rst
 */
#define _GNU_SOURCE
#include "attr_test.h"
#include "pxt_test.h"
#include "withlog.h"

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

/*
 * Writes rounds of 200 numbers into a log of 32 KiB and flushes each. Returns 0 or an error
 * number.
 */
static int fill_log(int log_policy, int rounds, int fd, struct log_content *content)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, log_policy, 32 << 10 };
	trace_id_t trid;
	int err;

	err = withlog_new(0, &kind, fd, &trid);
	if (err)
		return err;
	err = posix_trace_start(trid);
	for (int i = 0; !err && i < rounds; i++) {
		withlog_record(i * 200, 200);
		err = withlog_flush(trid);
	}
	posix_trace_shutdown(trid);
	log_content_fd(fd, content);
	return err ? err : content->err;
}

/*
 * All events, system events included, are records of a header and their data. A block
 * stores the thread only once, since it is the same for all its events.
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
		ASSERT_EQ(0, fill_log(policies[i], 20, fd, &content));
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
