// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getclockres(): Documentation/conformance/posix_trace_attr_getclockres.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_resolution_of_the_clock)
{
	struct timespec resolution = { -1, -1 }, clock;

	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &clock));
	EXPECT_EQ(0, posix_trace_attr_getclockres(&self->attr, &resolution));
	EXPECT_EQ(clock.tv_sec, resolution.tv_sec);
	EXPECT_EQ(clock.tv_nsec, resolution.tv_nsec);
}

TEST_F(attr, a02_stream_has_the_resolution)
{
	struct timespec resolution = { -1, -1 }, clock;
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &clock));
	EXPECT_EQ(0, posix_trace_attr_getclockres(&granted, &resolution));
	EXPECT_EQ(clock.tv_sec, resolution.tv_sec);
	EXPECT_EQ(clock.tv_nsec, resolution.tv_nsec);
}

TEST_F(invalid, a03_invalid_object)
{
	struct timespec resolution;

	EXPECT_EQ(EINVAL, posix_trace_attr_getclockres(self->attr, &resolution));
}

TEST_F(attr, a03_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getclockres(&self->attr, NULL));
}

TEST_HARNESS_MAIN
