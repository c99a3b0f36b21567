// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setlogfullpolicy():
 * Documentation/conformance/posix_trace_attr_setlogfullpolicy.rst
 */
#define _GNU_SOURCE
#include <limits.h>

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

TEST(a02_loop_has_the_most_recent_events)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fill_log(POSIX_TRACE_LOOP, 20, fd, &content));
	EXPECT_LT(0, content.first);
	EXPECT_EQ(3999, content.last);
	EXPECT_EQ(0, content.holes + content.errors);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(0, content.stops_auto);
	close(fd);
}

TEST(a03_until_full_flushes_until_the_log_is_full)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fill_log(POSIX_TRACE_UNTIL_FULL, 1, fd, &content));
	EXPECT_TRUE(log_content_is(&content, 200));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, content.status.posix_log_full_status);
	ASSERT_EQ(0, fill_log(POSIX_TRACE_UNTIL_FULL, 20, fd, &content));
	EXPECT_EQ(0, content.first);
	EXPECT_LT(300, content.last);
	EXPECT_EQ(0, content.holes + content.errors);
	EXPECT_EQ(POSIX_TRACE_FULL, content.status.posix_log_full_status);
	close(fd);
}

TEST(a04_last_event_of_until_full_is_stop)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fill_log(POSIX_TRACE_UNTIL_FULL, 20, fd, &content));
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(1, content.stops_auto);
	close(fd);
}

TEST(a05_append_has_no_limit)
{
	struct log_content content;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fill_log(POSIX_TRACE_APPEND, 20, fd, &content));
	EXPECT_TRUE(log_content_is(&content, 4000));
	EXPECT_LT(4000 * (16 + 8), log_file_size(fd));
	close(fd);
}

TEST_HARNESS_MAIN
