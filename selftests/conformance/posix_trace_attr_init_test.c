// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_init(): Documentation/conformance/posix_trace_attr_init.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_defaults)
{
	struct attr_values values;

	ASSERT_EQ(0, attr_read(&self->attr, &values));
	EXPECT_STREQ("", values.name);
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, values.inherited);
	EXPECT_EQ(POSIX_TRACE_LOOP, values.stream_policy);
	EXPECT_EQ(POSIX_TRACE_LOOP, values.log_policy);
	EXPECT_EQ(256 << 10, values.stream_size);
	EXPECT_EQ(1024, values.max_data_size);
	EXPECT_EQ(16 << 20, values.log_size);
	EXPECT_EQ(0, values.created.tv_sec);
	EXPECT_EQ(0, values.created.tv_nsec);
}

TEST(a01_defaults_in_dirty_memory)
{
	struct attr_values zero, other;
	trace_attr_t attr;

	memset(&attr, 0, sizeof(attr));
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, attr_read(&attr, &zero));
	memset(&attr, 0xa5, sizeof(attr));
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, attr_read(&attr, &other));
	EXPECT_EQ(0, memcmp(&zero, &other, sizeof(zero)));
}

TEST_F(attr, a02_read_only_attributes)
{
	struct attr_values values;
	struct timespec clock;

	ASSERT_EQ(0, attr_read(&self->attr, &values));
	EXPECT_EQ(0, strncmp("posixtrace ", values.version, 11));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &clock));
	EXPECT_EQ(0, memcmp(&clock, &values.resolution, sizeof(clock)));
}

/* Sets each attribute of a stream without log to a value other than the default. */
static int modify(trace_attr_t *attr)
{
	return posix_trace_attr_setname(attr, "modified") ||
	       posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL) ||
	       posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND) ||
	       posix_trace_attr_setstreamsize(attr, 64 << 10) ||
	       posix_trace_attr_setmaxdatasize(attr, 100) ||
	       posix_trace_attr_setlogsize(attr, 123456);
}

static int is_modified(const trace_attr_t *attr)
{
	struct attr_values values;

	return !attr_read(attr, &values) && !strcmp("modified", values.name) &&
	       values.stream_policy == POSIX_TRACE_UNTIL_FULL &&
	       values.log_policy == POSIX_TRACE_APPEND &&
	       values.inherited == POSIX_TRACE_CLOSE_FOR_CHILD &&
	       values.stream_size == 64 << 10 && values.max_data_size == 100 &&
	       values.log_size == 123456;
}

TEST_F(attr, a03_stream_has_the_attributes)
{
	trace_attr_t granted;

	ASSERT_EQ(0, modify(&self->attr));
	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	EXPECT_TRUE(is_modified(&granted));
}

TEST_F(attr, a03_stream_has_the_defaults)
{
	struct attr_values asked, got;
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, attr_read(&self->attr, &asked));
	ASSERT_EQ(0, attr_read(&granted, &got));
	/* A stream has a creation time, and its size may be rounded up. */
	EXPECT_LE(asked.stream_size, got.stream_size);
	got.stream_size = asked.stream_size;
	memset(&got.created, 0, sizeof(got.created));
	EXPECT_EQ(0, memcmp(&asked, &got, sizeof(asked)));
}

TEST_F(attr, a04_many_streams_have_the_attributes)
{
	trace_attr_t granted;
	trace_id_t trid[3];

	ASSERT_EQ(0, modify(&self->attr));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid[i]));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_get_attr(trid[i], &granted));
		EXPECT_TRUE(is_modified(&granted));
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

TEST_F(attr, a05_later_changes_do_not_affect_the_stream)
{
	trace_attr_t granted;
	trace_id_t trid;

	ASSERT_EQ(0, modify(&self->attr));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));

	EXPECT_EQ(0, posix_trace_attr_setname(&self->attr, "other"));
	EXPECT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 200));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &granted));
	EXPECT_TRUE(is_modified(&granted));

	EXPECT_EQ(0, posix_trace_attr_destroy(&self->attr));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &granted));
	EXPECT_TRUE(is_modified(&granted));

	EXPECT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &granted));
	EXPECT_TRUE(is_modified(&granted));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a06_receives_the_attributes_of_a_stream)
{
	trace_attr_t other;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_init(&other));
	ASSERT_EQ(0, modify(&other));
	ASSERT_EQ(0, posix_trace_create(0, &other, &trid));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &self->attr));
	EXPECT_TRUE(is_modified(&self->attr));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a07_destroyed_object_gets_the_defaults)
{
	struct attr_values before, after;

	ASSERT_EQ(0, attr_read(&self->attr, &before));
	ASSERT_EQ(0, modify(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, attr_read(&self->attr, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST(a08_returns_the_error_number)
{
	trace_attr_t attr;

	errno = 4711;
	EXPECT_EQ(0, posix_trace_attr_init(&attr));
	EXPECT_EQ(EINVAL, posix_trace_attr_init(NULL));
	EXPECT_EQ(4711, errno);
}

TEST(a10_einval_for_null)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_init(NULL));
}

TEST_HARNESS_MAIN
