// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventset_del(): Documentation/conformance/posix_trace_eventset_del.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "cancel.h"
#include "eventset.h"
#include "trace_test.h"

FIXTURE(del)
{
	trace_event_set_t set;
};

FIXTURE_SETUP(del)
{
	ASSERT_EQ(0, posix_trace_eventset_fill(&self->set, POSIX_TRACE_ALL_EVENTS));
}

FIXTURE_TEARDOWN(del)
{
}

TEST_F(del, a01_every_type_stops_being_a_member)
{
	for (trace_event_id_t id = 1; id < IDS_MAX; id++) {
		ASSERT_EQ(1, set_has(&self->set, id));
		ASSERT_EQ(0, posix_trace_eventset_del(id, &self->set));
		ASSERT_EQ(0, set_has(&self->set, id));
	}
}

TEST_F(del, a02_type_that_is_not_a_member)
{
	trace_event_set_t before;

	ASSERT_EQ(0, posix_trace_eventset_del(100, &self->set));
	before = self->set;
	EXPECT_EQ(0, posix_trace_eventset_del(100, &self->set));
	EXPECT_TRUE(set_equal(&before, &self->set));
}

TEST_F(del, a02_type_of_an_empty_set)
{
	trace_event_set_t before;

	ASSERT_EQ(0, posix_trace_eventset_empty(&self->set));
	before = self->set;
	EXPECT_EQ(0, posix_trace_eventset_del(POSIX_TRACE_START, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_del(IDS_MAX - 1, &self->set));
	EXPECT_TRUE(set_equal(&before, &self->set));
}

TEST_F(del, a03_other_types_do_not_change)
{
	/* Ids around the word boundaries of the set, for any word size. */
	static const trace_event_id_t ids[] = { 1, 31, 32, 63, 64, 65, 127, 128, 4063, 4095 };
	int all = set_count(&self->set, 1, IDS_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		ASSERT_EQ(0, posix_trace_eventset_del(ids[i], &self->set));
		ASSERT_EQ(all - (int)i - 1, set_count(&self->set, 1, IDS_MAX));
	}
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		EXPECT_EQ(0, set_has(&self->set, ids[i]));
}

TEST_F(del, a04_no_filter_changes)
{
	trace_event_set_t filter;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &self->set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_eventset_del(POSIX_TRACE_UNNAMED_USEREVENT, &self->set));
	ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
	EXPECT_EQ(1, set_has(&filter, POSIX_TRACE_UNNAMED_USEREVENT));
	/* A change of a set that was read from a stream does not change the filter either. */
	EXPECT_EQ(0, posix_trace_eventset_del(POSIX_TRACE_UNNAMED_USEREVENT, &filter));
	ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
	EXPECT_EQ(1, set_has(&filter, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(del, a05_types_of_all_kinds)
{
	trace_event_id_t named;
	int all = set_count(&self->set, 1, IDS_MAX);

	ASSERT_EQ(0, posix_trace_eventid_open("del", &named));
	EXPECT_EQ(0, posix_trace_eventset_del(named, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_del(named + 1, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_del(POSIX_TRACE_UNNAMED_USEREVENT, &self->set));
	EXPECT_EQ(0, posix_trace_eventset_del(POSIX_TRACE_STOP, &self->set));
	EXPECT_EQ(0, set_has(&self->set, named));
	EXPECT_EQ(0, set_has(&self->set, named + 1));
	EXPECT_EQ(0, set_has(&self->set, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_EQ(0, set_has(&self->set, POSIX_TRACE_STOP));
	EXPECT_EQ(all - 4, set_count(&self->set, 1, IDS_MAX));
}

TEST_F(del, a06_numbers_out_of_range)
{
	trace_event_set_t before = self->set;

	EXPECT_EQ(EINVAL, posix_trace_eventset_del(0, &self->set));
	EXPECT_EQ(EINVAL, posix_trace_eventset_del(IDS_MAX, &self->set));
	EXPECT_EQ(EINVAL, posix_trace_eventset_del(~0U, &self->set));
	EXPECT_TRUE(set_equal(&before, &self->set));
}

TEST(a07_null_set)
{
	EXPECT_EQ(EINVAL, posix_trace_eventset_del(POSIX_TRACE_START, NULL));
}

static int del_from_arg(void *arg)
{
	return posix_trace_eventset_del(70, arg);
}

TEST_F(del, a08_no_cancellation_point)
{
	EXPECT_EQ(0, call_cancelled(del_from_arg, &self->set));
	EXPECT_EQ(0, set_has(&self->set, 70));
}

TEST_HARNESS_MAIN
