// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getcreatetime(): Documentation/conformance/posix_trace_attr_getcreatetime.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"
#include "trace_test.h"

/* The creation time of the stream in nanoseconds; 0 if a call fails. */
static unsigned long long created(trace_id_t trid)
{
	struct timespec time = { -1, -1 };
	trace_attr_t attr;

	if (posix_trace_get_attr(trid, &attr) || posix_trace_attr_getcreatetime(&attr, &time))
		return 0;
	if (time.tv_nsec < 0 || time.tv_nsec >= (long)NSEC)
		return 0;
	return time.tv_sec * NSEC + time.tv_nsec;
}

TEST_F(attr, a01_time_of_creation)
{
	unsigned long long before, between, after;
	trace_id_t first, second;

	before = now();
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &first));
	between = now();
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &second));
	after = now();
	EXPECT_LE(before, created(first));
	EXPECT_GE(between, created(first));
	EXPECT_LE(between, created(second));
	EXPECT_GE(after, created(second));
	EXPECT_EQ(0, posix_trace_shutdown(first));
	EXPECT_EQ(0, posix_trace_shutdown(second));
}

TEST_F(attr, a01_no_event_is_older)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_LT(0, created(trid));
	EXPECT_LE(created(trid), event_time(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a02_does_not_change)
{
	struct posix_trace_status_info status;
	unsigned long long time;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	time = created(trid);
	ASSERT_LT(0, time);
	ASSERT_EQ(0, posix_trace_start(trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	EXPECT_EQ(time, created(trid));
	ASSERT_EQ(0, posix_trace_clear(trid));
	EXPECT_EQ(time, created(trid));
	ASSERT_EQ(0, posix_trace_stop(trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(time, created(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a03_zero_without_a_stream)
{
	struct timespec time = { 1, 1 };
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, posix_trace_attr_getcreatetime(&self->attr, &time));
	EXPECT_EQ(0, time.tv_sec);
	EXPECT_EQ(0, time.tv_nsec);
}

TEST_F(invalid, a04_invalid_object)
{
	struct timespec time;

	EXPECT_EQ(EINVAL, posix_trace_attr_getcreatetime(self->attr, &time));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getcreatetime(&self->attr, NULL));
}

TEST_HARNESS_MAIN
