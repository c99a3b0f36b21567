// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_set_filter() and system event types, including those that report losses;
 * filtered events need no space: Documentation/conformance/posix_trace_set_filter.rst
 */
#define _GNU_SOURCE
#include "stream_fixtures.h"
#include "eventset.h"
#include "filter_stream.h"
#include "trace_test.h"

/* Records more events than any stream of these tests holds. */
static void flood(trace_event_id_t id)
{
	char data[256] = "";

	for (int i = 0; i < 1000; i++)
		posix_trace_event(id, data, sizeof(data));
}

TEST_F(filter, a14_start)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_START, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_TYPES(self->trid, self->a, POSIX_TRACE_STOP);
}

TEST_F(filter, a14_stop)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_STOP, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	posix_trace_event(self->a, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START);
}

TEST_F(filter, a14_all_of_them)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_SYSTEM_EVENTS);
	struct posix_trace_status_info status;
	struct event event;

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	flood(self->a);
	ASSERT_EQ(0, filter_one(self->trid, self->b, ADD));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	do {
		ASSERT_EQ(self->a, event.info.posix_event_id);
	} while (take(self->trid, &event) == 1);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
}

/* Reads all events and counts OVERFLOW and RESUME. */
static void count_gaps(trace_id_t trid, int *overflows, int *resumes)
{
	struct event event;

	while (take(trid, &event) == 1) {
		*overflows += event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		*resumes += event.info.posix_event_id == POSIX_TRACE_RESUME;
	}
}

static void expect_gaps(struct __test_metadata *_metadata, trace_id_t trid, int wanted_overflows,
			int wanted_resumes)
{
	struct posix_trace_status_info status;
	int overflows = 0, resumes = 0;

	ASSERT_EQ(0, posix_trace_start(trid));
	flood(UNNAMED);
	/* Reading a full stream restarts it, which ends the gap. */
	count_gaps(trid, &overflows, &resumes);
	posix_trace_event(UNNAMED, NULL, 0);
	count_gaps(trid, &overflows, &resumes);
	EXPECT_EQ(wanted_overflows, overflows);
	EXPECT_EQ(wanted_resumes, resumes);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
}

TEST_F(stream, a14_overflow_and_resume_unfiltered)
{
	expect_gaps(_metadata, self->trid, 1, 1);
}

TEST_F(stream, a14_overflow)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_OVERFLOW, SET));
	expect_gaps(_metadata, self->trid, 0, 1);
}

TEST_F(stream, a14_resume)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_RESUME, SET));
	expect_gaps(_metadata, self->trid, 1, 0);
}

/*
 * The stream is full although its filter leaves out the events that report it. It still restarts.
 */
TEST(a14_until_full_without_system_events)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_SYSTEM_EVENTS);
	struct posix_trace_status_info status;
	struct event event;
	int number = 4711;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, SET));
	ASSERT_EQ(0, posix_trace_start(trid));
	flood(UNNAMED);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	while (take(trid, &event) == 1)
		ASSERT_EQ(UNNAMED, event.info.posix_event_id);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	posix_trace_event(UNNAMED, &number, sizeof(number));
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(UNNAMED, event.info.posix_event_id);
	EXPECT_EQ(number, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(stream, a15_filtered_events_need_no_space)
{
	struct posix_trace_status_info status;
	struct event event;
	int number = 4711;

	ASSERT_EQ(0, filter_one(self->trid, UNNAMED, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	flood(UNNAMED);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	ASSERT_EQ(0, filter_one(self->trid, UNNAMED, SUB));
	posix_trace_event(UNNAMED, &number, sizeof(number));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(number, event_number(&event));
}

TEST_HARNESS_MAIN
