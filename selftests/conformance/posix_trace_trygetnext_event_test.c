// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_trygetnext_event(): Documentation/conformance/posix_trace_trygetnext_event.rst
 */
#define _GNU_SOURCE
#include "getnext_stream.h"

TEST_F(getnext, a01_reports_a_recorded_event)
{
	record_number(17);
	ASSERT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_EQ(sizeof(int), self->event.len);
	EXPECT_EQ(17, event_number(&self->event));
}

TEST_F(getnext, a01_reports_an_event_of_a_stopped_stream)
{
	record_number(17);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_EQ(17, event_number(&self->event));
	ASSERT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
}

/* If the call slept, it would never return, since no thread wakes it up. */
TEST_F(getnext, a02_does_not_block)
{
	trace_id_t suspended;

	EXPECT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_NE(0, self->event.unavailable);
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &suspended));
	EXPECT_EQ(0, read_try(suspended, &self->event, ROOM));
	EXPECT_NE(0, self->event.unavailable);
	EXPECT_EQ(0, posix_trace_shutdown(suspended));
}

TEST_F(getnext, a02_does_not_block_while_others_wait)
{
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	EXPECT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_NE(0, self->event.unavailable);
	EXPECT_TRUE(reader_sleeps(&reader));
	record_number(1);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(1, event_number(&reader.event));
}

TEST_F(getnext, a03_unavailable_is_zero_with_an_event)
{
	record_number(1);
	ASSERT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_EQ(0, self->event.unavailable);
}

TEST_F(getnext, a04_unavailable_is_nonzero_without_an_event)
{
	self->event.unavailable = 0;
	EXPECT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_NE(0, self->event.unavailable);
	self->event.unavailable = 0;
	EXPECT_EQ(EINVAL, read_try(4711, &self->event, ROOM));
	EXPECT_NE(0, self->event.unavailable);
}

TEST_F(getnext, a05_all_data_if_there_is_space)
{
	char data[257] = "0123456789";

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 10);
	memset(self->event.data, 'z', 16);
	ASSERT_EQ(0, read_try(self->trid, &self->event, 10));
	EXPECT_EQ(10, self->event.len);
	EXPECT_EQ(0, memcmp("0123456789zzz", self->event.data, 13));
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	ASSERT_EQ(0, read_try(self->trid, &self->event, 256));
	EXPECT_EQ(256, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
}

TEST_F(getnext, a06_data_is_truncated_to_the_space)
{
	char data[257] = "0123456789";
	const size_t sizes[] = { 10, 257 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizes[i]);
		memset(self->event.data, 'z', 10);
		ASSERT_EQ(0, read_try(self->trid, &self->event, 9));
		EXPECT_EQ(9, self->event.len);
		EXPECT_EQ(0, memcmp("012345678z", self->event.data, 10));
		EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->event.info.posix_truncation_status);
	}
}

TEST_F(getnext, a07_oldest_event_comes_first)
{
	for (int i = 0; i < 40; i++) {
		run_on(i / 3);
		record_number(i);
	}
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		ASSERT_EQ(i, event_number(&self->event));
	}
}

TEST_F(getnext, a08_event_is_not_reported_again)
{
	record_number(1);
	EXPECT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

/* The stream would stop if the space were not freed. */
TEST(a09_space_of_a_reported_event_is_free)
{
	struct posix_trace_status_info status;
	struct event event;
	int data[64] = { 0 };
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	for (data[0] = 0; data[0] < 500; data[0]++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
		if (data[0] % 2)
			continue;
		ASSERT_EQ(1, take_user(trid, &event));
		/*
		 * Read in between, because a backlog of half of all events would fill the stream.
		 */
		if (data[0] % 100 == 98)
			while (take_user(trid, &event) == 1)
				;
		ASSERT_GE(data[0], event_number(&event));
	}
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(getnext, a10_returns_zero_or_the_error_and_keeps_errno)
{
	record_number(1);
	errno = 4711;
	EXPECT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_EQ(0, read_try(self->trid, &self->event, ROOM));
	EXPECT_EQ(EINVAL, read_try(0, &self->event, ROOM));
	EXPECT_EQ(4711, errno);
}

static int read_without_result(trace_id_t trid)
{
	struct event event;

	return read_try(trid, &event, ROOM);
}

TEST_F(getnext, a11_bad_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(read_without_result, self->trid));
}

TEST(a12_einval_for_a_log)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, log_open_events(20, &trid));
	event.unavailable = 0;
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(trid, &event.info, event.data, ROOM,
						       &event.len, &event.unavailable));
	/* The failed call has consumed no event. */
	EXPECT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(0, log_time(&event));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(logged, a13_einval_for_an_active_stream_with_log)
{
	withlog_record(0, 10);
	EXPECT_EQ(0, withlog_readable(self->trid));
}

TEST_HARNESS_MAIN
