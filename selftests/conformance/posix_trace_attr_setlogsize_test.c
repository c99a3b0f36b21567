// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogsize(): Documentation/conformance/posix_trace_attr_setlogsize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

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

TEST_F(attr, a01_sets_only_this_attribute)
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

TEST(a02_limits_loop_and_until_full)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	/* A log of 16 MiB would not be full. */
	ASSERT_EQ(0, fill_log(POSIX_TRACE_LOOP, 20, fd, &content));
	EXPECT_GT((32 << 10) / (16 + 8), content.numbers);
	ASSERT_EQ(0, ftruncate(fd, 0));
	ASSERT_EQ(0, fill_log(POSIX_TRACE_UNTIL_FULL, 20, fd, &content));
	EXPECT_GT((32 << 10) / (16 + 8), content.numbers);
	EXPECT_LT(200, content.numbers);
	close(fd);
}

TEST(a03_does_not_limit_append)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fill_log(POSIX_TRACE_APPEND, 20, fd, &content));
	EXPECT_TRUE(log_content_is(&content, 4000));
	close(fd);
}

TEST_HARNESS_MAIN
