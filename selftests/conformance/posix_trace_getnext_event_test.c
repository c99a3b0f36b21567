// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_getnext_event(): Documentation/conformance/posix_trace_getnext_event.rst
 */
#define _GNU_SOURCE
#include "getnext_stream.h"

TEST_F(getnext, a01_reports_a_recorded_event)
{
	record_number(17);
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
	EXPECT_EQ(17, event_number(&self->event));
}

TEST_F(getnext, a01_reports_an_event_of_a_stopped_stream)
{
	record_number(17);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(17, event_number(&self->event));
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
}

TEST_F(getnext, a03_information_of_the_event_is_stored)
{
	unsigned long long before = now();

	memset(&self->event.info, 0x5a, sizeof(self->event.info));
	record_number(1);
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(pthread_self(), self->event.info.posix_thread_id));
	EXPECT_NE(NULL, self->event.info.posix_prog_address);
	EXPECT_LE(before, event_time(&self->event));
	EXPECT_GE(now(), event_time(&self->event));
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
}

TEST_F(getnext, a04_data_of_the_event_is_stored)
{
	unsigned char data[256];

	for (int i = 0; i < 256; i++)
		data[i] = i;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	ASSERT_EQ(sizeof(data), self->event.len);
	EXPECT_EQ(0, memcmp(data, self->event.data, sizeof(data)));
}

TEST_F(getnext, a04_no_data_for_an_event_without_data)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	memset(self->event.data, 0x5a, 8);
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(0, self->event.len);
	EXPECT_EQ(0, memcmp("ZZZZZZZZ", self->event.data, 8));
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
}

TEST_F(getnext, a05_blocks_until_there_is_an_event)
{
	struct reader reader;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
		record_number(i);
		EXPECT_EQ(0, reader_end(&reader));
		EXPECT_EQ(i, event_number(&reader.event));
	}
}

/* A stream that was never started is also an active stream. */
TEST(a05_blocks_on_a_suspended_stream)
{
	struct reader reader;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, reader_start(&reader, trid, NULL));
	ASSERT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(POSIX_TRACE_START, reader.event.info.posix_event_id);
	ASSERT_EQ(0, reader_start(&reader, trid, NULL));
	ASSERT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(POSIX_TRACE_STOP, reader.event.info.posix_event_id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(getnext, a06_unavailable_is_zero_with_an_event)
{
	struct reader reader;

	record_number(1);
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(0, self->event.unavailable);
	ASSERT_EQ(0, reader_start_over(&reader, self->trid, NULL, -1));
	record_number(2);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(0, reader.event.unavailable);
}

TEST_F(getnext, a07_unavailable_is_nonzero_without_an_event)
{
	expect_interrupted(_metadata, self->trid, NULL);
	self->event.unavailable = 0;
	EXPECT_EQ(EINVAL, read_next(4711, &self->event, ROOM));
	EXPECT_NE(0, self->event.unavailable);
}

TEST_F(getnext, a08_all_data_if_there_is_space)
{
	for (size_t room = 10; room < 13; room++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "0123456789", 10);
		memset(self->event.data, 'z', 16);
		ASSERT_EQ(0, read_next(self->trid, &self->event, room));
		EXPECT_EQ(10, self->event.len);
		EXPECT_EQ(0, memcmp("0123456789zzz", self->event.data, 13));
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
	}
}

/* max-data-size of the stream is 256. */
TEST_F(getnext, a09_data_truncated_when_recorded)
{
	char data[257] = "";

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 256);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(256, self->event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
	ASSERT_EQ(0, read_next(self->trid, &self->event, 256));
	EXPECT_EQ(256, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
}

TEST_F(getnext, a10_data_is_truncated_to_the_space)
{
	const size_t rooms[] = { 9, 5, 1, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "0123456789", 10);
		memset(self->event.data, 'z', 10);
		ASSERT_EQ(0, read_next(self->trid, &self->event, rooms[i]));
		EXPECT_EQ(rooms[i], self->event.len);
		EXPECT_EQ(0, memcmp("0123456789", self->event.data, rooms[i]));
		EXPECT_EQ('z', self->event.data[rooms[i]]);
		EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->event.info.posix_truncation_status);
	}
	/* With a length of 0, the array may be NULL. */
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "0123456789", 10);
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &self->event.info, NULL, 0,
					       &self->event.len, &self->event.unavailable));
	EXPECT_EQ(0, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->event.info.posix_truncation_status);
	/* The rest of the data is not reported by a later call. */
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(getnext, a10_truncated_read_overrides_truncated_record)
{
	char data[257] = "";

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	ASSERT_EQ(0, read_next(self->trid, &self->event, 255));
	EXPECT_EQ(255, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->event.info.posix_truncation_status);
}

TEST_F(getnext, a11_oldest_event_comes_first)
{
	for (int i = 0; i < 40; i++) {
		run_on(i / 3);
		record_number(i);
	}
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
		ASSERT_EQ(i, event_number(&self->event));
	}
}

TEST_F(getnext, a11_oldest_event_comes_first_while_others_are_read)
{
	int next = 0;

	for (int i = 0; i < 40; i++) {
		run_on(i);
		record_number(2 * i);
		record_number(2 * i + 1);
		ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
		ASSERT_EQ(next++, event_number(&self->event));
	}
	while (next < 80) {
		ASSERT_EQ(0, read_next(self->trid, &self->event, ROOM));
		ASSERT_EQ(next++, event_number(&self->event));
	}
}

TEST_F(getnext, a12_event_is_not_reported_again)
{
	struct reader reader;

	record_number(1);
	EXPECT_EQ(0, read_next(self->trid, &self->event, ROOM));
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	record_number(2);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(2, event_number(&reader.event));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

/* Records many times the capacity of the stream, a little at a time. */
static void record_and_read(struct __test_metadata *_metadata, trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct event event;
	int data[64] = { 0 };

	for (int i = 0; i < 10; i++) {
		for (int j = 0; j < 40; j++) {
			data[0] = 40 * i + j;
			posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
		}
		for (int j = 0; j < 40; j++) {
			ASSERT_EQ(0, read_next(trid, &event, ROOM));
			ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
			ASSERT_EQ(40 * i + j, event_number(&event));
		}
	}
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
}

TEST_F(getnext, a13_space_of_a_reported_event_is_free)
{
	record_and_read(_metadata, self->trid);
}

TEST(a13_space_of_a_reported_event_is_free_in_until_full)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, read_next(trid, &event, ROOM));
	record_and_read(_metadata, trid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(getnext, a14_returns_zero_or_the_error_and_keeps_errno)
{
	record_number(1);
	errno = 4711;
	EXPECT_EQ(0, read_next(self->trid, &self->event, ROOM));
	EXPECT_EQ(4711, errno);
	EXPECT_EQ(EINVAL, read_next(0, &self->event, ROOM));
	EXPECT_EQ(4711, errno);
}

static int read_without_result(trace_id_t trid)
{
	struct event event;

	return read_next(trid, &event, ROOM);
}

TEST_F(getnext, a15_bad_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(read_without_result, self->trid));
}

TEST_F(getnext, a16_shutdown_ends_the_wait)
{
	struct reader readers[3];

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, reader_start(&readers[i], self->trid, NULL));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(EINVAL, reader_end(&readers[i]));
}

TEST_F(getnext, a17_signal_interrupts)
{
	expect_interrupted(_metadata, self->trid, NULL);
}

TEST_F(getnext, a18_interrupted_call_has_no_effect)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct posix_trace_event_info info;
	struct reader reader;

	memset(&info, 0x5a, sizeof(info));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	reader.event.info = info;
	reader.event.len = 4711;
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	EXPECT_EQ(EINTR, reader_end(&reader));
	EXPECT_EQ(0, memcmp(&info, &reader.event.info, sizeof(info)));
	EXPECT_EQ(4711, reader.event.len);
	record_number(1);
	record_number(2);
	for (int i = 1; i < 3; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_EQ(i, event_number(&self->event));
	}
}

/* Signal and event arrive together: this call or a later one reports the event, but only once. */
TEST_F(getnext, a18_no_effect_if_an_event_comes_with_the_signal)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
		if (i % 2)
			record_number(i);
		ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
		if (!(i % 2))
			record_number(i);
		if (reader_end(&reader)) {
			ASSERT_EQ(EINTR, reader.ret);
			ASSERT_EQ(1, take(self->trid, &reader.event));
		}
		ASSERT_EQ(i, event_number(&reader.event));
		ASSERT_EQ(0, take(self->trid, &self->event));
	}
}

TEST(a02_events_of_a_log)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, log_open_events(100, &trid));
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(1, log_take(trid, &event));
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
		EXPECT_EQ((__u64)i, log_time(&event));
		EXPECT_EQ(8, event.len);
		EXPECT_EQ(0, memcmp(&(__u64){ i }, event.data, 8));
	}
	/* At the end of the log, no call blocks. */
	for (int i = 0; i < 3; i++) {
		event.unavailable = 0;
		EXPECT_EQ(0, log_take(trid, &event));
		EXPECT_NE(0, event.unavailable);
	}
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(-EINVAL, log_take(trid, &event));
}

TEST_F(logged, a19_einval_for_an_active_stream_with_log)
{
	withlog_record(0, 10);
	EXPECT_EQ(0, withlog_readable(self->trid));
}

TEST_HARNESS_MAIN
