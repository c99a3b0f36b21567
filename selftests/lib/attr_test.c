// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes objects: defaults, valid and invalid values.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <limits.h>
#include <stdint.h>
#include <time.h>
#include <trace.h>

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

/* ------------------------------------------------------------------ */
/* Objects								*/

TEST_F(attr, destroyed_object_is_invalid)
{
	int policy;

	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_attr_getinherited(&self->attr, &policy));
	EXPECT_EQ(EINVAL, posix_trace_attr_setinherited(&self->attr, POSIX_TRACE_INHERITED));
	EXPECT_EQ(EINVAL, posix_trace_attr_destroy(&self->attr));
}

TEST_F(attr, destroyed_object_can_be_initialized_again)
{
	int policy = -1;

	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	EXPECT_EQ(0, posix_trace_attr_getinherited(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, policy);
}

TEST_F(attr, object_can_be_copied)
{
	trace_attr_t copy;
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 123456));
	copy = self->attr;
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 654321));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&copy, &size));
	EXPECT_EQ(123456, size);
}

/* Calls each function with @attr. Returns the name of one that does not fail with EINVAL, or "". */
static const char *accepts(trace_attr_t *attr)
{
	char name[TRACE_NAME_MAX + 1] = "name";
	struct timespec time;
	size_t size;
	int policy;

	if (posix_trace_attr_getclockres(attr, &time) != EINVAL)
		return "getclockres";
	if (posix_trace_attr_getcreatetime(attr, &time) != EINVAL)
		return "getcreatetime";
	if (posix_trace_attr_getgenversion(attr, name) != EINVAL)
		return "getgenversion";
	if (posix_trace_attr_getinherited(attr, &policy) != EINVAL)
		return "getinherited";
	if (posix_trace_attr_getlogfullpolicy(attr, &policy) != EINVAL)
		return "getlogfullpolicy";
	if (posix_trace_attr_getlogsize(attr, &size) != EINVAL)
		return "getlogsize";
	if (posix_trace_attr_getmaxdatasize(attr, &size) != EINVAL)
		return "getmaxdatasize";
	if (posix_trace_attr_getmaxsystemeventsize(attr, &size) != EINVAL)
		return "getmaxsystemeventsize";
	if (posix_trace_attr_getmaxusereventsize(attr, 1, &size) != EINVAL)
		return "getmaxusereventsize";
	if (posix_trace_attr_getname(attr, name) != EINVAL)
		return "getname";
	if (posix_trace_attr_getstreamfullpolicy(attr, &policy) != EINVAL)
		return "getstreamfullpolicy";
	if (posix_trace_attr_getstreamsize(attr, &size) != EINVAL)
		return "getstreamsize";
	if (posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED) != EINVAL)
		return "setinherited";
	if (posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_LOOP) != EINVAL)
		return "setlogfullpolicy";
	if (posix_trace_attr_setlogsize(attr, 4096) != EINVAL)
		return "setlogsize";
	if (posix_trace_attr_setmaxdatasize(attr, 100) != EINVAL)
		return "setmaxdatasize";
	if (posix_trace_attr_setname(attr, name) != EINVAL)
		return "setname";
	if (posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP) != EINVAL)
		return "setstreamfullpolicy";
	if (posix_trace_attr_setstreamsize(attr, 65536) != EINVAL)
		return "setstreamsize";
	if (posix_trace_attr_destroy(attr) != EINVAL)
		return "destroy";
	return "";
}

TEST(object_that_was_never_initialized_is_invalid)
{
	trace_attr_t attr;

	memset(&attr, 0, sizeof(attr));
	EXPECT_STREQ("", accepts(&attr));
	memset(&attr, 0xff, sizeof(attr));
	EXPECT_STREQ("", accepts(&attr));
}

TEST(null_object_is_invalid)
{
	EXPECT_STREQ("", accepts(NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_init(NULL));
}

TEST_F(attr, destroyed_object_is_invalid_everywhere)
{
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_STREQ("", accepts(&self->attr));
}

TEST_F(attr, null_result_is_invalid)
{
	trace_attr_t *attr = &self->attr;

	EXPECT_EQ(EINVAL, posix_trace_attr_getclockres(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getcreatetime(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getgenversion(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getinherited(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getlogfullpolicy(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getlogsize(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxdatasize(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxsystemeventsize(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxusereventsize(attr, 1, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getname(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getstreamfullpolicy(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_getstreamsize(attr, NULL));
	EXPECT_EQ(EINVAL, posix_trace_attr_setname(attr, NULL));
}

/* ------------------------------------------------------------------ */
/* Description								*/

TEST_F(attr, clock_resolution_is_that_of_the_clock)
{
	struct timespec res, clock;

	ASSERT_EQ(0, posix_trace_attr_getclockres(&self->attr, &res));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &clock));
	EXPECT_EQ(clock.tv_sec, res.tv_sec);
	EXPECT_EQ(clock.tv_nsec, res.tv_nsec);
}

TEST_F(attr, creation_time_is_zero_without_a_stream)
{
	struct timespec time = { 1, 1 };

	ASSERT_EQ(0, posix_trace_attr_getcreatetime(&self->attr, &time));
	EXPECT_EQ(0, time.tv_sec);
	EXPECT_EQ(0, time.tv_nsec);
}

TEST_F(attr, generation_version_is_a_short_string)
{
	char version[TRACE_NAME_MAX + 1];

	memset(version, 'x', sizeof(version));
	ASSERT_EQ(0, posix_trace_attr_getgenversion(&self->attr, version));
	EXPECT_EQ(0, strncmp(version, "posixtrace ", 11));
	EXPECT_GE(TRACE_NAME_MAX, strnlen(version, sizeof(version)));
}

TEST_F(attr, name_is_empty_by_default)
{
	char name[TRACE_NAME_MAX + 1] = "x";

	ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, name));
	EXPECT_STREQ("", name);
}

TEST_F(attr, name_is_kept_up_to_the_limit)
{
	char name[TRACE_NAME_MAX + 1], got[TRACE_NAME_MAX + 1];

	memset(name, 'n', TRACE_NAME_MAX);
	name[TRACE_NAME_MAX] = '\0';
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
	ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, got));
	EXPECT_STREQ(name, got);
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "short"));
	ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, got));
	EXPECT_STREQ("short", got);
}

/* More than TRACE_NAME_MAX characters: TRACE_NAME_MAX - 1 of them remain. */
TEST_F(attr, longer_name_is_truncated)
{
	char name[TRACE_NAME_MAX + 2], got[TRACE_NAME_MAX + 1];

	memset(name, 'n', TRACE_NAME_MAX + 1);
	name[TRACE_NAME_MAX + 1] = '\0';
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
	ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, got));
	EXPECT_EQ(TRACE_NAME_MAX - 1, strlen(got));
	EXPECT_EQ(0, strncmp(name, got, TRACE_NAME_MAX - 1));
}

/* ------------------------------------------------------------------ */
/* Policies								*/

TEST_F(attr, inheritance)
{
	int policy = -1;

	ASSERT_EQ(0, posix_trace_attr_getinherited(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, policy);
	EXPECT_EQ(0, posix_trace_attr_setinherited(&self->attr, POSIX_TRACE_INHERITED));
	ASSERT_EQ(0, posix_trace_attr_getinherited(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_INHERITED, policy);
	EXPECT_EQ(EINVAL, posix_trace_attr_setinherited(&self->attr, 4711));
	EXPECT_EQ(EINVAL, posix_trace_attr_setinherited(&self->attr, -1));
	ASSERT_EQ(0, posix_trace_attr_getinherited(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_INHERITED, policy);
}

TEST_F(attr, stream_full_policy)
{
	int policy = -1;

	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
	EXPECT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, policy);
	EXPECT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_FLUSH));
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_FLUSH, policy);
	EXPECT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_LOOP));
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamfullpolicy(&self->attr, -1));
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamfullpolicy(&self->attr, 4711));
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
}

TEST_F(attr, log_full_policy)
{
	int policy = -1;

	ASSERT_EQ(0, posix_trace_attr_getlogfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
	EXPECT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	EXPECT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_LOOP));
	EXPECT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	ASSERT_EQ(0, posix_trace_attr_getlogfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_APPEND, policy);
	EXPECT_EQ(EINVAL, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_FLUSH));
	EXPECT_EQ(EINVAL, posix_trace_attr_setlogfullpolicy(&self->attr, -1));
	EXPECT_EQ(EINVAL, posix_trace_attr_setlogfullpolicy(&self->attr, 4711));
	ASSERT_EQ(0, posix_trace_attr_getlogfullpolicy(&self->attr, &policy));
	EXPECT_EQ(POSIX_TRACE_APPEND, policy);
}

/* ------------------------------------------------------------------ */
/* Sizes								*/

TEST_F(attr, stream_size)
{
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&self->attr, &size));
	EXPECT_EQ(256 << 10, size);
	EXPECT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 1 << 20));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&self->attr, &size));
	EXPECT_EQ(1 << 20, size);
	EXPECT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 1UL << 30));
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamsize(&self->attr, (1UL << 30) + 1));
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamsize(&self->attr, SIZE_MAX));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&self->attr, &size));
	EXPECT_EQ(1UL << 30, size);
}

TEST_F(attr, max_data_size)
{
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&self->attr, &size));
	EXPECT_EQ(1024, size);
	EXPECT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 0));
	EXPECT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 64 << 10));
	EXPECT_EQ(EINVAL, posix_trace_attr_setmaxdatasize(&self->attr, (64 << 10) + 1));
	EXPECT_EQ(EINVAL, posix_trace_attr_setmaxdatasize(&self->attr, SIZE_MAX));
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&self->attr, &size));
	EXPECT_EQ(64 << 10, size);
}

TEST_F(attr, log_size)
{
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_getlogsize(&self->attr, &size));
	EXPECT_EQ(16 << 20, size);
	EXPECT_EQ(0, posix_trace_attr_setlogsize(&self->attr, 12345678));
	ASSERT_EQ(0, posix_trace_attr_getlogsize(&self->attr, &size));
	EXPECT_EQ(12345678, size);
	EXPECT_EQ(EINVAL, posix_trace_attr_setlogsize(&self->attr, SIZE_MAX));
}

TEST_F(attr, user_event_size_grows_with_the_data_up_to_the_limit)
{
	size_t last = 0, size;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 100));
	for (size_t len = 0; len <= 100; len++) {
		ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&self->attr, len, &size));
		ASSERT_LE(last, size);
		ASSERT_LT(len, size);
		last = size;
	}
	/* Longer data is truncated, so the event is not larger. */
	ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&self->attr, 101, &size));
	EXPECT_EQ(last, size);
	ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&self->attr, SIZE_MAX, &size));
	EXPECT_EQ(last, size);
}

TEST_F(attr, system_event_size_has_space_for_two_event_sets)
{
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_getmaxsystemeventsize(&self->attr, &size));
	EXPECT_LT(2 * sizeof(trace_event_set_t), size);
	EXPECT_GT(4096, size);
}

TEST_F(attr, functions_do_not_change_errno)
{
	errno = 4711;
	accepts(NULL);
	posix_trace_attr_setstreamsize(&self->attr, SIZE_MAX);
	posix_trace_attr_init(&self->attr);
	EXPECT_EQ(4711, errno);
}

TEST_HARNESS_MAIN
