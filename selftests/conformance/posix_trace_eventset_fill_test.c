// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventset_fill(): Documentation/conformance/posix_trace_eventset_fill.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "cancel.h"
#include "eventset.h"
#include "trace_test.h"

static const int kinds[] = {
	POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS, POSIX_TRACE_ALL_EVENTS,
};

TEST(a01_wopid_events_are_empty)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);

	EXPECT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS));
	EXPECT_EQ(0, set_count(&set, 1, IDS_MAX));
}

TEST(a02_system_events)
{
	static const trace_event_id_t types[] = {
		POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW,
		POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP,
		POSIX_TRACE_FILTER,
	};
	trace_event_set_t set;

	EXPECT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		EXPECT_EQ(1, set_has(&set, types[i]));
	EXPECT_EQ(0, set_count(&set, POSIX_TRACE_UNNAMED_USEREVENT, IDS_MAX));
}

/* The set includes all types of a stream that precede the first user type. */
TEST(a02_all_system_events_of_a_stream)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_SYSTEM_EVENTS);
	int unavailable, seen = 0;
	trace_event_id_t id;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	for (;;) {
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
		if (unavailable)
			break;
		EXPECT_EQ(id < POSIX_TRACE_UNNAMED_USEREVENT, set_has(&set, id));
		seen++;
	}
	EXPECT_LE(9, seen);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a03_all_events)
{
	trace_event_set_t set;

	EXPECT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	EXPECT_EQ(IDS_MAX - 1, set_count(&set, 1, IDS_MAX));
}

TEST(a04_uninitialized_object)
{
	trace_event_set_t set, other;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		memset(&set, 0xa5, sizeof(set));
		memset(&other, 0x5a, sizeof(other));
		EXPECT_EQ(0, posix_trace_eventset_fill(&set, kinds[i]));
		EXPECT_EQ(0, posix_trace_eventset_fill(&other, kinds[i]));
		for (trace_event_id_t id = 1; id < IDS_MAX; id++)
			ASSERT_EQ(set_has(&set, id), set_has(&other, id));
	}
}

TEST(a05_types_defined_later)
{
	trace_event_set_t set;
	trace_event_id_t id;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, posix_trace_eventid_open("later", &id));
	EXPECT_EQ(1, set_has(&set, id));
	posix_trace_event(id, NULL, 0);
	EXPECT_EQ(0, take(trid, &event));
	/* Without the filter, the event is recorded. */
	ASSERT_EQ(0, filter_one(trid, id, POSIX_TRACE_SUB_EVENTSET));
	posix_trace_event(id, NULL, 0);
	EXPECT_EQ(1, take(trid, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a06_no_filter_changes)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_WOPID_EVENTS);
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ASSERT_EQ(0, posix_trace_get_filter(trid, &set));
	EXPECT_EQ(0, set_count(&set, 1, IDS_MAX));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static bool is_kind(int what)
{
	return what == kinds[0] || what == kinds[1] || what == kinds[2];
}

TEST(a07_other_values)
{
	trace_event_set_t set = set_of(70), before = set;

	for (int what = -3; what < 16; what++)
		if (!is_kind(what))
			EXPECT_EQ(EINVAL, posix_trace_eventset_fill(&set, what));
	EXPECT_EQ(EINVAL, posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS | 1 << 30));
	EXPECT_TRUE(set_equal(&before, &set));
}

TEST(a08_null_set)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		EXPECT_EQ(EINVAL, posix_trace_eventset_fill(NULL, kinds[i]));
}

static int fill_arg(void *arg)
{
	return posix_trace_eventset_fill(arg, POSIX_TRACE_ALL_EVENTS);
}

TEST(a09_no_cancellation_point)
{
	trace_event_set_t set;

	EXPECT_EQ(0, call_cancelled(fill_arg, &set));
	EXPECT_EQ(1, set_has(&set, 70));
}

TEST_HARNESS_MAIN
