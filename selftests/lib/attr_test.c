// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes objects, without the module. Runs natively, and under valgrind, which detects
 * uninitialized values. selftests/conformance tests what the standard guarantees.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <stdint.h>

#include "attr_fixture.h"

/* Sets each attribute to a value other than the default. */
static int set_all(trace_attr_t *attr)
{
	return posix_trace_attr_setname(attr, "without module") ||
	       posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED) ||
	       posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL) ||
	       posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND) ||
	       posix_trace_attr_setstreamsize(attr, 12345) ||
	       posix_trace_attr_setmaxdatasize(attr, 333) ||
	       posix_trace_attr_setlogsize(attr, 123456);
}

TEST_F(attr, all_values_are_kept_without_the_module)
{
	struct attr_values values;
	struct timespec clock;
	trace_attr_t copy;
	size_t size;

	ASSERT_EQ(0, set_all(&self->attr));
	copy = self->attr;
	EXPECT_EQ(0, posix_trace_attr_destroy(&self->attr));
	ASSERT_EQ(0, attr_read(&copy, &values));
	EXPECT_STREQ("without module", values.name);
	EXPECT_EQ(0, strncmp(values.version, "posixtrace ", 11));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &clock));
	EXPECT_EQ(clock.tv_sec, values.resolution.tv_sec);
	EXPECT_EQ(clock.tv_nsec, values.resolution.tv_nsec);
	EXPECT_EQ(0, values.created.tv_sec);
	EXPECT_EQ(0, values.created.tv_nsec);
	EXPECT_EQ(POSIX_TRACE_INHERITED, values.inherited);
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, values.stream_policy);
	EXPECT_EQ(POSIX_TRACE_APPEND, values.log_policy);
	EXPECT_EQ(12345, values.stream_size);
	EXPECT_EQ(333, values.max_data_size);
	EXPECT_EQ(123456, values.log_size);
	ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&copy, 100, &size));
	EXPECT_LT(100, size);
	ASSERT_EQ(0, posix_trace_attr_getmaxsystemeventsize(&copy, &size));
	EXPECT_LT(2 * sizeof(trace_event_set_t), size);
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

TEST_F(attr, functions_do_not_change_errno)
{
	errno = 4711;
	EXPECT_STREQ("", accepts(NULL));
	posix_trace_attr_setstreamsize(&self->attr, SIZE_MAX);
	posix_trace_attr_init(&self->attr);
	EXPECT_EQ(4711, errno);
}

TEST_HARNESS_MAIN
