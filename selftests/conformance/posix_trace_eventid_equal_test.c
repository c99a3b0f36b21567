// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventid_equal(): Documentation/conformance/posix_trace_eventid_equal.rst
 */
#define _GNU_SOURCE
#include "stream_fixtures.h"
#include "cancel.h"
#include "name_test.h"
#include "trace_test.h"
#include "log_reading.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT

TEST_F(suspended, a01_equal)
{
	trace_event_id_t id = open_id("equal");

	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, id, open_id("equal")));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, UNNAMED, UNNAMED));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, POSIX_TRACE_STOP, POSIX_TRACE_STOP));
}

TEST_F(suspended, a02_not_equal)
{
	trace_event_id_t ids[5] = { POSIX_TRACE_START, POSIX_TRACE_STOP, UNNAMED };

	ids[3] = open_id("one");
	ids[4] = open_id("two");
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 5; j++)
			EXPECT_EQ(i == j, !!posix_trace_eventid_equal(self->trid, ids[i], ids[j]));
}

TEST_F(suspended, a03_identifiers_of_both_sides)
{
	trace_event_id_t of_process = open_id("side");
	trace_event_id_t of_controller = open_trid_id(self->trid, "side");
	trace_event_id_t first = open_trid_id(self->trid, "other side");
	struct event event;

	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, of_process, of_controller));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, first, open_id("other side")));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(of_process, NULL, 0);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, POSIX_TRACE_START,
					       event.info.posix_event_id));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, of_controller,
					       event.info.posix_event_id));
	EXPECT_EQ(0, posix_trace_eventid_equal(self->trid, UNNAMED, event.info.posix_event_id));
}

TEST_F(suspended, a04_bad_trace_ids)
{
	trace_id_t trid;

	EXPECT_EQ(0, posix_trace_eventid_equal(0, UNNAMED, UNNAMED));
	EXPECT_EQ(0, posix_trace_eventid_equal(-1, UNNAMED, UNNAMED));
	EXPECT_EQ(0, posix_trace_eventid_equal(self->trid + 1, UNNAMED, UNNAMED));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, posix_trace_eventid_equal(trid, UNNAMED, UNNAMED));
}

TEST_F(suspended, a05_invalid_types)
{
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, ~0U, ~0U));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, 0, 0));
	EXPECT_EQ(0, posix_trace_eventid_equal(self->trid, 0, UNNAMED));
	EXPECT_EQ(0, posix_trace_eventid_equal(self->trid, ~0U, 4095));
}

static int differ(trace_id_t trid)
{
	return !posix_trace_eventid_equal(trid, UNNAMED, UNNAMED);
}

TEST_F(suspended, a07_no_cancellation_point)
{
	EXPECT_EQ(0, call_trid_cancelled(differ, self->trid));
}

TEST(a06_identifiers_of_a_log)
{
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&log, LOG_FIRST_NAMED, "first");
	ASSERT_EQ(0, log_open(&log, &trid));
	EXPECT_EQ(1, posix_trace_eventid_equal(trid, UNNAMED, UNNAMED));
	EXPECT_EQ(1, posix_trace_eventid_equal(trid, LOG_FIRST_NAMED, LOG_FIRST_NAMED));
	EXPECT_EQ(0, posix_trace_eventid_equal(trid, LOG_FIRST_NAMED, UNNAMED));
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(0, posix_trace_eventid_equal(trid, UNNAMED, UNNAMED));
	log_free(&log);
}

TEST_HARNESS_MAIN
