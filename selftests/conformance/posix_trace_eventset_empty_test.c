// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventset_empty(): Documentation/conformance/posix_trace_eventset_empty.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "cancel.h"
#include "eventset.h"
#include "trace_test.h"

TEST(a01_no_type_is_a_member)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);

	ASSERT_EQ(1, set_has(&set, POSIX_TRACE_START));
	ASSERT_EQ(1, set_has(&set, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_EQ(0, posix_trace_eventset_empty(&set));
	EXPECT_EQ(0, set_count(&set, 1, IDS_MAX));
}

TEST(a02_uninitialized_object)
{
	trace_event_set_t set, other;

	memset(&set, 0xa5, sizeof(set));
	memset(&other, 0x5a, sizeof(other));
	EXPECT_EQ(0, posix_trace_eventset_empty(&set));
	EXPECT_EQ(0, posix_trace_eventset_empty(&other));
	EXPECT_EQ(0, set_count(&set, 1, IDS_MAX));
	EXPECT_EQ(0, set_count(&other, 1, IDS_MAX));
}

TEST(a03_types_defined_later)
{
	trace_event_set_t set;
	trace_event_id_t id;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, posix_trace_eventid_open("later", &id));
	EXPECT_EQ(0, set_has(&set, id));
	posix_trace_event(id, NULL, 0);
	EXPECT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a04_no_filter_changes)
{
	trace_event_set_t set = set_of(POSIX_TRACE_UNNAMED_USEREVENT);
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_get_filter(trid, &set));
	EXPECT_EQ(1, set_has(&set, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a05_null_set)
{
	EXPECT_EQ(EINVAL, posix_trace_eventset_empty(NULL));
}

static int empty_arg(void *arg)
{
	return posix_trace_eventset_empty(arg);
}

TEST(a06_no_cancellation_point)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);

	EXPECT_EQ(0, call_cancelled(empty_arg, &set));
	EXPECT_EQ(0, set_count(&set, 1, IDS_MAX));
}

TEST_HARNESS_MAIN
