// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setstreamfullpolicy():
 * Documentation/conformance/posix_trace_attr_setstreamfullpolicy.rst
 */
#define _GNU_SOURCE
#include <limits.h>
#include <posixtrace.h>

#include "attr_fixture.h"
#include "trace_test.h"
#include "withlog.h"

TEST_F(attr, a01_sets_only_this_attribute)
{
	const long policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH };

	expect_set_alone(_metadata, &attr_stream_policy, &self->attr, policies,
			 ARRAY_SIZE(policies));
}

/* Starts a stream with this policy and space for a few hundred events. */
static int start_stream(trace_attr_t *attr, int policy, trace_id_t *trid)
{
	int err = posix_trace_attr_setstreamfullpolicy(attr, policy);

	if (!err)
		err = posix_trace_attr_setstreamsize(attr, 16 << 10);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(attr, 200);
	if (!err)
		err = posix_trace_create(0, attr, trid);
	return err ? err : posix_trace_start(*trid);
}

/* Records @count events, numbered from @first. */
static void record(int first, int count)
{
	struct {
		int number;
		char filler[196];
	} data = { 0 };

	for (int i = 0; i < count; i++) {
		data.number = first + i;
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &data, sizeof(data));
	}
}

TEST_F(attr, a02_loop_runs_until_stopped)
{
	struct posix_trace_status_info status;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_LOOP, &trid));
	for (int i = 0; i < 10; i++) {
		record(0, 200);
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	}
	ASSERT_EQ(0, posix_trace_stop(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a03_loop_has_the_most_recent_events)
{
	int count = 2000, next = -1, taken = 0;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_LOOP, &trid));
	record(0, count);
	while (take_user(trid, &event) == 1) {
		if (next >= 0)
			ASSERT_EQ(next, event_number(&event));
		next = event_number(&event) + 1;
		taken++;
	}
	EXPECT_EQ(count, next);
	/* Expect half of the events that fit into the requested memory at 248 bytes each. */
	EXPECT_LT((16 << 10) / 248 / 2, taken);
	EXPECT_GT(count, taken);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a04_until_full_stops_when_its_memory_is_used_up)
{
	struct posix_trace_status_info status;
	struct event event;
	int taken = 0;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_UNTIL_FULL, &trid));
	record(0, 10);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	record(10, 1000);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	/* The oldest events are still there. */
	for (; take_user(trid, &event) == 1 && event_number(&event) == taken; taken++)
		;
	EXPECT_LT((16 << 10) / 248 / 2, taken);
	EXPECT_GT(1010, taken);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a05_until_full_ends_with_stop)
{
	struct event event;
	int last = -1, automatic = 0;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_UNTIL_FULL, &trid));
	record(0, 1000);
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	do {
		ASSERT_EQ(1, take(trid, &event));
		if (event.info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT)
			last = event_number(&event);
	} while (event.info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT);
	EXPECT_LT(0, last);
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	automatic = event_number(&event);
	EXPECT_EQ(sizeof(int), event.len);
	EXPECT_NE(0, automatic);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a06_until_full_reuses_the_memory_of_reported_events)
{
	struct posix_trace_status_info status;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_UNTIL_FULL, &trid));
	/*
	 * Record many times the capacity of the stream. It is read in between, so it never becomes
	 * full.
	 */
	for (int i = 0; i < 1000; i += 20) {
		record(i, 20);
		for (int k = 0; k < 20; k++) {
			ASSERT_EQ(1, take_user(trid, &event));
			ASSERT_EQ(i + k, event_number(&event));
		}
	}
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a07_until_full_runs_again_when_empty)
{
	struct posix_trace_status_info status;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_UNTIL_FULL, &trid));
	record(0, 1000);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	ASSERT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_LE(0, take_all(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	record(1234, 1);
	EXPECT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(1234, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a08_until_full_starts_before_the_next_event)
{
	int seen_stop = 0, seen_start = 0;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_stream(&self->attr, POSIX_TRACE_UNTIL_FULL, &trid));
	record(0, 1000);
	while (take(trid, &event) == 1) {
		if (event.info.posix_event_id == POSIX_TRACE_STOP)
			seen_stop = 1;
		else if (event.info.posix_event_id == POSIX_TRACE_START && seen_stop)
			seen_start++;
	}
	EXPECT_TRUE(seen_stop);
	record(1234, 1);
	while (take(trid, &event) == 1 && event.info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		seen_start += event.info.posix_event_id == POSIX_TRACE_START;
	EXPECT_EQ(1234, event_number(&event));
	EXPECT_EQ(1, seen_start);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a09_flush_without_log_is_invalid)
{
	trace_id_t trid = 4711;

	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_FLUSH));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &trid));
	EXPECT_EQ(4711, trid);
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_LOOP));
	EXPECT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(invalid, a11_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setstreamfullpolicy(self->attr, POSIX_TRACE_UNTIL_FULL));
}

TEST_F(attr, a12_other_policies)
{
	const long policies[] = { POSIX_TRACE_APPEND, -1, 4, 4711, INT_MAX, INT_MIN };

	expect_refused(_metadata, &attr_stream_policy, &self->attr, POSIX_TRACE_UNTIL_FULL,
		       policies, ARRAY_SIZE(policies));
}

TEST(a10_flush_flushes_automatically)
{
	const struct log_kind flush = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
	struct posix_trace_status_info status;
	struct posixtrace_stats_info stats;
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&flush, fd, &trid));
	withlog_record(0, 10);
	log_wait_number(fd, 9);
	/*
	 * Record faster than the stream is flushed: then FLUSH also suspends the stream, like
	 * UNTIL_FULL.
	 */
	withlog_record(10, 40000);
	do {
		sched_yield();
		log_content_fd(fd, &content);
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
		/*
		 * Wait until all events are in the log: until then, the stream may have too little
		 * space.
		 */
	} while (status.posix_stream_status != POSIX_TRACE_RUNNING ||
		 content.numbers != (int)stats.recorded);
	withlog_record(40010, 10);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(40019, content.last);
	EXPECT_EQ(content.holes, content.stops_auto);
	EXPECT_EQ(content.holes + 1, content.starts);
	close(fd);
}

TEST_HARNESS_MAIN
