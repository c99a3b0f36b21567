// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_clear(): Documentation/conformance/posix_trace_clear.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "trace_test.h"

FIXTURE(clear)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(clear)
{
	int policy;
};

FIXTURE_VARIANT_ADD(clear, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(clear, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(clear)
{
	ASSERT_EQ(0, new_stream(0, variant->policy, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(clear)
{
	posix_trace_shutdown(self->trid);
}

static void record(int number)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
}

/* More than any stream of these tests holds. */
static void record_too_many(void)
{
	char data[256] = "";

	for (int i = 0; i < 1000; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
}

TEST_F(clear, a01_recorded_events_are_gone)
{
	struct event event;

	for (int i = 0; i < 10; i++)
		record(i);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(clear, a01_and_so_is_the_report_of_lost_ones)
{
	struct event event;

	record_too_many();
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(clear, a02_running_stream_runs_on)
{
	struct posix_trace_status_info status;
	struct event event;

	record(1);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	record(2);
	/* No START before it: it did not start again. */
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(clear, a03_suspended_stream_stays_suspended)
{
	struct posix_trace_status_info status;
	struct event event;

	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	record(1);
	EXPECT_EQ(0, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	record(2);
	EXPECT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
}

TEST_F(clear, a04_stream_is_not_full)
{
	struct posix_trace_status_info status;
	int before;

	record_too_many();
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	ASSERT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	before = status.posix_stream_status;
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(before, status.posix_stream_status);
}

TEST_F(clear, a05_event_types_stay)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t before, after;

	ASSERT_EQ(0, posix_trace_eventid_open("clear", &before));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "clear", &after));
	EXPECT_EQ(before, after);
	ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, before, name));
	EXPECT_STREQ("clear", name);
}

TEST_F(clear, a06_filter_stays)
{
	trace_event_set_t set, filter;
	struct event event;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(0, memcmp(&set, &filter, sizeof(set)));
	record(1);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(clear, a07_nothing_is_overrun)
{
	struct posix_trace_status_info status;

	record_too_many();
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
}

TEST_F(clear, a07_there_is_room_as_in_a_new_stream)
{
	struct posix_trace_status_info status;
	struct event event;
	int taken = 0;

	record_too_many();
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 100; i++)
		record(i);
	while (take_user(self->trid, &event) == 1)
		EXPECT_EQ(taken++, event_number(&event));
	EXPECT_EQ(100, taken);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
}

TEST(a08_bad_trace_ids)
{
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_clear(0));
	EXPECT_EQ(EINVAL, posix_trace_clear(-1));
	EXPECT_EQ(EINVAL, posix_trace_clear(4711));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_clear(trid));
}

TEST_HARNESS_MAIN
