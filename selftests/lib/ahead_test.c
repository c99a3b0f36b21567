// SPDX-License-Identifier: GPL-2.0
/*
 * The library reads a few events ahead, and returns them one by one. Programs must not notice this.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "polling.h"
#include "pxt_test.h"
#include "reading.h"

FIXTURE(ahead)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(ahead)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(ahead)
{
	posix_trace_shutdown(self->trid);
}

static void record_numbers(int first, int end)
{
	for (int i = first; i < end; i++)
		record_number(i);
}

/* Returns the number of the next event, or -1. */
static int next_number(struct _test_data_ahead *self)
{
	return take(self->trid, &self->event) == 1 ? event_number(&self->event) : -1;
}

TEST_F(ahead, order_is_kept_when_calls_are_mixed)
{
	struct posixtrace_batch_event events[3];
	unsigned char buffer[64];
	int next = 0;
	size_t count;

	record_numbers(0, 90);
	while (next < 90) {
		ASSERT_EQ(next, next_number(self));
		next++;
		ASSERT_EQ(0, posixtrace_getevents(self->trid, events, 3, buffer, sizeof(buffer),
						  &count, POSIXTRACE_NOWAIT));
		for (size_t i = 0; i < count; i++, next++) {
			ASSERT_EQ(sizeof(next), events[i].data_len);
			ASSERT_EQ(0, memcmp(events[i].data, &next, sizeof(next)));
			ASSERT_EQ(0, events[i].flags);
		}
	}
	ASSERT_EQ(90, next);
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(ahead, small_buffer_truncates_only_the_first_event_of_a_batch)
{
	struct posixtrace_batch_event events[3];
	unsigned char buffer[2] __attribute__((__aligned__(8)));
	size_t count;

	record_numbers(0, 5);
	ASSERT_EQ(0, next_number(self));
	ASSERT_EQ(0, posixtrace_getevents(self->trid, events, 3, buffer, sizeof(buffer), &count,
					  POSIXTRACE_NOWAIT));
	ASSERT_EQ(1, count);
	EXPECT_EQ(sizeof(buffer), events[0].data_len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, events[0].event.posix_truncation_status);
	/* The library puts the second event back before those that it has read ahead. */
	for (int i = 2; i < 5; i++)
		EXPECT_EQ(i, next_number(self));
}

TEST_F(ahead, small_buffer_truncates_only_one_event)
{
	static const char text[] = "twenty bytes of data";

	for (int i = 0; i < 3; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, text, 20);
	for (int i = 0; i < 3; i++) {
		size_t room = i == 1 ? 8 : 20;

		memset(self->event.data, 'z', sizeof(self->event.data));
		ASSERT_EQ(0, read_try(self->trid, &self->event, room));
		ASSERT_EQ(0, self->event.unavailable);
		EXPECT_EQ(room, self->event.len);
		EXPECT_EQ(0, memcmp(text, self->event.data, room));
		EXPECT_EQ('z', self->event.data[room]);
		EXPECT_EQ(i == 1 ? POSIX_TRACE_TRUNCATED_READ : POSIX_TRACE_NOT_TRUNCATED,
			  self->event.info.posix_truncation_status);
	}
}

TEST_F(ahead, clear_leaves_nothing)
{
	record_numbers(0, 5);
	ASSERT_EQ(0, next_number(self));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &self->event));
	record_number(9);
	EXPECT_EQ(9, next_number(self));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(ahead, descriptor_is_readable_until_the_last_event)
{
	int fd = posixtrace_fd(self->trid);

	record_numbers(0, 3);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(POLLIN, poll_say(fd, 0));
		ASSERT_EQ(i, next_number(self));
	}
	EXPECT_EQ(0, poll_say(fd, 0));
}

TEST_F(ahead, stats_count_only_what_was_reported)
{
	struct posixtrace_stats_info stats;

	record_numbers(0, 10);
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
		EXPECT_EQ(10, stats.recorded);
		EXPECT_EQ(i, stats.read);
		ASSERT_EQ(i, next_number(self));
	}
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(10, stats.read);
}

/* Events that were read ahead are not lost. All others are reported, or counted as overwritten. */
TEST_F(ahead, overwriting_comes_after_what_was_read_ahead)
{
	struct posixtrace_stats_info stats;
	int number, last = 0;
	bool gap = false;

	run_on(0);
	record_numbers(0, 8000);
	number = next_number(self);
	/* The events that report the gap come first. */
	while (self->event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
		number = next_number(self);
	last = number;
	record_numbers(8000, 16000);
	while (take(self->trid, &self->event) == 1) {
		if (self->event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT) {
			gap = true;
			continue;
		}
		number = event_number(&self->event);
		if (!gap)
			ASSERT_EQ(last + 1, number);
		ASSERT_LT(last, number);
		last = number;
	}
	EXPECT_TRUE(gap);
	EXPECT_EQ(15999, last);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(16000, stats.recorded);
	EXPECT_EQ(16000, stats.read + stats.overwritten + stats.skipped);
}

/* UNTIL_FULL: the stream restarts once the last event has been reported, not earlier. */
TEST(full_stream_waits_for_the_last_report)
{
	struct posix_trace_status_info status;
	struct event event;
	trace_id_t trid;
	int events = 0;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	do {
		record_number(events++);
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	} while (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	for (;;) {
		ASSERT_EQ(1, take(trid, &event));
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		if (event.info.posix_event_id == POSIX_TRACE_STOP)
			break;
		EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	}
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static void *read_until_shutdown(void *arg)
{
	struct event event;
	trace_id_t trid;

	do {
		trid = __atomic_load_n((trace_id_t *)arg, __ATOMIC_ACQUIRE);
		take(trid, &event);
	} while (trid);
	return NULL;
}

/* The stream's memory is freed when no other thread uses it. */
TEST(shutdown_waits_for_readers)
{
	trace_id_t shared = -1, trid;
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, read_until_shutdown, &shared));
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
		record_numbers(0, 100);
		__atomic_store_n(&shared, trid, __ATOMIC_RELEASE);
		record_numbers(0, 100);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
	__atomic_store_n(&shared, 0, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

TEST_HARNESS_MAIN
