// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventset_ismember(): Documentation/conformance/posix_trace_eventset_ismember.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "cancel.h"
#include "eventset.h"
#include "trace_test.h"

TEST(a01_zero_without_membership)
{
	trace_event_set_t set = set_of(70);

	for (trace_event_id_t id = 1; id < IDS_MAX; id++) {
		int member = 4711;

		ASSERT_EQ(0, posix_trace_eventset_ismember(id, &set, &member));
		if (id != 70)
			ASSERT_EQ(0, member);
	}
}

TEST(a02_nonzero_for_a_member)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);

	for (trace_event_id_t id = 1; id < IDS_MAX; id++) {
		int member = 0;

		ASSERT_EQ(0, posix_trace_eventset_ismember(id, &set, &member));
		ASSERT_NE(0, member);
	}
}

TEST(a03_set_does_not_change)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_SYSTEM_EVENTS), before = set;
	int member;

	for (trace_event_id_t id = 0; id <= IDS_MAX; id++)
		posix_trace_eventset_ismember(id, &set, &member);
	EXPECT_TRUE(set_equal(&before, &set));
}

TEST(a04_filter_of_a_stream_does_not_matter)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_WOPID_EVENTS);
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, filter_one(trid, POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, set_has(&set, POSIX_TRACE_UNNAMED_USEREVENT));
	set = set_of(POSIX_TRACE_START);
	EXPECT_EQ(1, set_has(&set, POSIX_TRACE_START));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a05_numbers_out_of_range)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);
	int member = 4711;

	EXPECT_EQ(EINVAL, posix_trace_eventset_ismember(0, &set, &member));
	EXPECT_EQ(EINVAL, posix_trace_eventset_ismember(IDS_MAX, &set, &member));
	EXPECT_EQ(EINVAL, posix_trace_eventset_ismember(~0U, &set, &member));
	EXPECT_EQ(4711, member);
}

TEST(a06_null_pointers)
{
	trace_event_set_t set = set_of(70);
	int member = 4711;

	EXPECT_EQ(EINVAL, posix_trace_eventset_ismember(70, NULL, &member));
	EXPECT_EQ(4711, member);
	EXPECT_EQ(EINVAL, posix_trace_eventset_ismember(70, &set, NULL));
}

static int has_70(void *arg)
{
	return set_has(arg, 70);
}

TEST(a07_no_cancellation_point)
{
	trace_event_set_t set = set_of(70);

	EXPECT_EQ(1, call_cancelled(has_70, &set));
}

TEST_HARNESS_MAIN
