// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventset_add(): Documentation/conformance/posix_trace_eventset_add.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "cancel.h"
#include "eventset.h"
#include "trace_test.h"

FIXTURE(add)
{
	trace_event_set_t set;
};

FIXTURE_SETUP(add)
{
	ASSERT_EQ(0, posix_trace_eventset_empty(&self->set));
}

FIXTURE_TEARDOWN(add)
{
}

TEST_F(add, a01_every_type_becomes_a_member)
{
	for (trace_event_id_t id = 1; id < IDS_MAX; id++) {
		ASSERT_EQ(0, set_has(&self->set, id));
		ASSERT_EQ(0, posix_trace_eventset_add(id, &self->set));
		ASSERT_EQ(1, set_has(&self->set, id));
	}
}

TEST_F(add, a02_existing_member)
{
	trace_event_set_t before;

	ASSERT_EQ(0, posix_trace_eventset_add(100, &self->set));
	before = self->set;
	EXPECT_EQ(0, posix_trace_eventset_add(100, &self->set));
	EXPECT_TRUE(set_equal(&before, &self->set));
}

TEST_F(add, a02_member_of_a_full_set)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS), before = set;

	EXPECT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_START, &set));
	EXPECT_EQ(0, posix_trace_eventset_add(IDS_MAX - 1, &set));
	EXPECT_TRUE(set_equal(&before, &set));
}

TEST_F(add, a03_other_types_do_not_change)
{
	/* Ids around the word boundaries of the set, for any word size. */
	static const trace_event_id_t ids[] = { 1, 31, 32, 63, 64, 65, 127, 128, 4063, 4095 };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		ASSERT_EQ(0, posix_trace_eventset_add(ids[i], &self->set));
		ASSERT_EQ((int)i + 1, set_count(&self->set, 1, IDS_MAX));
	}
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		EXPECT_EQ(1, set_has(&self->set, ids[i]));
}

TEST_F(add, a04_no_filter_changes)
{
	trace_event_set_t filter;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &self->set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &self->set));
	ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
	EXPECT_EQ(0, set_count(&filter, 1, IDS_MAX));
	/* A change of a set that was read from a stream does not change the filter either. */
	EXPECT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &filter));
	ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
	EXPECT_EQ(0, set_count(&filter, 1, IDS_MAX));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(add, a05_types_of_all_kinds)
{
	trace_event_id_t named;

	ASSERT_EQ(0, posix_trace_eventid_open("add", &named));
	EXPECT_EQ(0, posix_trace_eventset_add(named, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_add(named + 1, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_STOP, &self->set));
	EXPECT_EQ(1, set_has(&self->set, named));
	EXPECT_EQ(1, set_has(&self->set, named + 1));
	EXPECT_EQ(1, set_has(&self->set, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_EQ(1, set_has(&self->set, POSIX_TRACE_STOP));
	EXPECT_EQ(4, set_count(&self->set, 1, IDS_MAX));
}

TEST_F(add, a06_numbers_out_of_range)
{
	trace_event_set_t before = self->set;

	EXPECT_EQ(EINVAL, posix_trace_eventset_add(0, &self->set));
	EXPECT_EQ(EINVAL, posix_trace_eventset_add(IDS_MAX, &self->set));
	EXPECT_EQ(EINVAL, posix_trace_eventset_add(~0U, &self->set));
	EXPECT_TRUE(set_equal(&before, &self->set));
}

TEST(a07_null_set)
{
	EXPECT_EQ(EINVAL, posix_trace_eventset_add(POSIX_TRACE_START, NULL));
}

TEST_F(add, a08_copies_are_independent)
{
	trace_event_set_t copy, other;

	ASSERT_EQ(0, posix_trace_eventset_add(70, &self->set));
	copy = self->set;
	memcpy(&other, &self->set, sizeof(other));
	ASSERT_EQ(0, posix_trace_eventset_add(71, &self->set));
	EXPECT_EQ(1, set_has(&copy, 70));
	EXPECT_EQ(0, set_has(&copy, 71));
	EXPECT_EQ(1, set_has(&other, 70));
	EXPECT_EQ(0, set_has(&other, 71));
}

static int add_to_arg(void *arg)
{
	return posix_trace_eventset_add(70, arg);
}

TEST_F(add, a09_no_cancellation_point)
{
	EXPECT_EQ(0, call_cancelled(add_to_arg, &self->set));
	EXPECT_EQ(1, set_has(&self->set, 70));
}

TEST_HARNESS_MAIN
