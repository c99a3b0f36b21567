// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_attr_setwakeup(): when a stream wakes its sleeping readers, for events that the
 * library or the module records.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <setjmp.h>

#include "pxt_test.h"
#include "polling.h"
#include "reading.h"
#include "sequences.h"
#include "wakeups.h"

#define HOUR		(3600 * NSEC)
#define AGE		(NSEC / 5)
#define STREAM_SIZE	(256 << 10)
#define DATA_SIZE	1024

/* Returns the time of the clock with which the age of events is measured. */
static unsigned long long monotonic(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

/* Creates and starts a stream on a process, and takes the first event. */
static int open_stream(pid_t pid, int policy, size_t bytes, uint64_t ns, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, STREAM_SIZE);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, policy);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posixtrace_attr_setwakeup(&attr, bytes, ns);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	if (!err)
		err = posix_trace_start(*trid);
	return err ? err : take_all(*trid) == 1 ? 0 : EPROTO;
}

static int is_done(const struct reader *reader)
{
	return __atomic_load_n(&reader->done, __ATOMIC_ACQUIRE);
}

/* ------------------------------------------------------------------ */
/* A sleeping reader							*/

FIXTURE(wakeup)
{
	trace_id_t trid;
	struct reader reader;
	struct event event;
};

FIXTURE_VARIANT(wakeup)
{
	bool by_module;
};

FIXTURE_VARIANT_ADD(wakeup, program_records) { false };
FIXTURE_VARIANT_ADD(wakeup, module_records) { true };

FIXTURE_SETUP(wakeup)
{
	if (variant->by_module && __rseq_size)
		ASSERT_EQ(0, forgo_sequences());
}

FIXTURE_TEARDOWN(wakeup)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(wakeup, default_is_immediate)
{
	trace_attr_t attr;
	uint64_t ns = 1;
	size_t bytes = 1;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posixtrace_attr_getwakeup(&attr, &bytes, &ns));
	EXPECT_EQ(0, bytes);
	EXPECT_EQ(0, ns);
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, bytes, ns, &self->trid));
	/* Without limits, no timer is needed, because the event itself wakes the reader. */
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
		record_number(i);
		EXPECT_EQ(0, reader_end(&self->reader));
		EXPECT_EQ(i, event_number(&self->reader.event));
	}
}

TEST_F(wakeup, reader_sleeps_until_the_oldest_event_has_the_age)
{
	unsigned long long before, took;

	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 0, AGE, &self->trid));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
		before = monotonic();
		record_number(i);
		record_number(-1);
		EXPECT_EQ(0, reader_end(&self->reader));
		took = monotonic() - before;
		EXPECT_LE(AGE, took);
		EXPECT_GT(AGE + 5 * NSEC * pxt_time_scale(), took);
		EXPECT_EQ(i, event_number(&self->reader.event));
		EXPECT_EQ(1, take_all(self->trid));
	}
}

TEST_F(wakeup, many_events_of_a_sleep_cost_one_wakeup)
{
	int program = !variant->by_module && __rseq_size;

	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 0, HOUR, &self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	__atomic_store_n(&wakeups, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < 50; i++)
		record_number(i);
	EXPECT_EQ(program, __atomic_load_n(&wakeups, __ATOMIC_RELAXED));
	EXPECT_FALSE(is_done(&self->reader));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(0, event_number(&self->reader.event));
}

static void record_bytes(void)
{
	static const char data[DATA_SIZE];

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
}

/* Records until the reader is awake. Returns how many bytes of data were recorded. */
static size_t bytes_until_awake(struct __test_metadata *_metadata, struct reader *reader,
				trace_id_t trid)
{
	unsigned long long limit = monotonic() + 10 * NSEC * pxt_time_scale();
	size_t bytes = 0;

	ASSERT_EQ(0, reader_start(reader, trid, NULL));
	/* Once there are enough events, give the reader time to run. */
	while (!is_done(reader) && monotonic() < limit) {
		if (bytes < STREAM_SIZE / 2) {
			record_bytes();
			bytes += DATA_SIZE;
		}
		if (!reader_sleeps(reader))
			break;
	}
	ASSERT_TRUE(is_done(reader));
	EXPECT_EQ(0, reader_end(reader));
	return bytes;
}

TEST_F(wakeup, bytes_wake_long_before_the_age)
{
	const uint64_t ages[] = { 0, HOUR };
	size_t bytes;

	/* Stay on one CPU, so that no more than one sub-buffer is partly filled. */
	ASSERT_LE(0, run_on(0));
	for (size_t i = 0; i < ARRAY_SIZE(ages); i++) {
		ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, ages[i], &self->trid));
		for (int j = 0; j < 3; j++) {
			bytes = bytes_until_awake(_metadata, &self->reader, self->trid);
			/* Headers and the ends of sub-buffers take up part of the 64 KiB. */
			EXPECT_LE(48 << 10, bytes);
			EXPECT_GT(STREAM_SIZE / 2, bytes);
			EXPECT_LE(0, take_all(self->trid));
		}
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

/*
 * With the largest limit that a stream accepts, the reader is still woken before events are lost.
 */
TEST_F(wakeup, whole_stream_wakes_in_time)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, STREAM_SIZE, 0, &self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	while (!is_done(&self->reader)) {
		record_bytes();
		if (!reader_sleeps(&self->reader))
			break;
	}
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->reader.event.info.posix_event_id);
}

static bool is_past(const struct timespec *time)
{
	return now() >= time->tv_sec * NSEC + time->tv_nsec;
}

TEST_F(wakeup, deadline_is_kept)
{
	struct timespec deadline = to_timespec(now() + AGE);
	unsigned long long ns = AGE;
	bool late;

	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, HOUR, &self->trid));
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, 0, &deadline));
	EXPECT_TRUE(is_past(&deadline));
	/* The deadline ends the wait for more events. Repeat if this thread recorded too late. */
	do {
		ns *= 2;
		deadline = to_timespec(now() + ns);
		reader_start(&self->reader, self->trid, &deadline);
		record_number(1);
		late = is_past(&deadline);
		reader_end(&self->reader);
		EXPECT_TRUE(is_past(&deadline));
		EXPECT_EQ(self->reader.ret ? 1 : 0, take_all(self->trid));
	} while (late);
	EXPECT_EQ(0, self->reader.ret);
	EXPECT_EQ(1, event_number(&self->reader.event));
}

TEST_F(wakeup, reader_that_comes_later_does_not_wait)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, HOUR, &self->trid));
	record_number(1);
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
	record_number(2);
	ASSERT_EQ(0, read_next(self->trid, &self->event, sizeof(self->event.data)));
	EXPECT_EQ(2, event_number(&self->event));
	/* Another reader may sleep at the same time. */
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	record_number(3);
	ASSERT_EQ(0, read_next(self->trid, &self->event, sizeof(self->event.data)));
	EXPECT_EQ(3, event_number(&self->event));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(POSIX_TRACE_STOP, self->reader.event.info.posix_event_id);
}

/* ------------------------------------------------------------------ */
/* Immediate wake-ups							*/

TEST_F(wakeup, stop_wakes_immediately)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, HOUR, &self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	record_number(1);
	EXPECT_FALSE(is_done(&self->reader));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(1, event_number(&self->reader.event));
}

TEST_F(wakeup, filtered_stop_wakes_immediately)
{
	trace_event_set_t set;

	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, HOUR, &self->trid));
	ASSERT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_LE(0, take_all(self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	record_number(1);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(1, event_number(&self->reader.event));
}

TEST_F(wakeup, shutdown_wakes_immediately)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, HOUR, &self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	record_number(1);
	EXPECT_FALSE(is_done(&self->reader));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, reader_end(&self->reader));
}

/* The timer must not touch the freed memory. */
TEST_F(wakeup, shutdown_comes_before_the_age)
{
	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 0, i * NSEC / 10000, &self->trid));
		ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
		record_number(1);
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
		reader_end(&self->reader);
		EXPECT_TRUE(self->reader.ret == EINVAL || self->reader.ret == 0);
	}
}

TEST_F(wakeup, full_stream_wakes_immediately)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_UNTIL_FULL, STREAM_SIZE, HOUR, &self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	for (int i = 0; i < 2 * STREAM_SIZE / DATA_SIZE; i++)
		record_bytes();
	EXPECT_EQ(0, reader_end(&self->reader));
}

/* After CLEAR, the reader finds no event and sleeps until the next event. */
TEST_F(wakeup, clear_loses_no_wakeup)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 0, AGE, &self->trid));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
		record_number(-1);
		ASSERT_EQ(0, posix_trace_clear(self->trid));
		record_number(i);
		EXPECT_EQ(0, reader_end(&self->reader));
		EXPECT_EQ(i, event_number(&self->reader.event));
	}
}

TEST_F(wakeup, end_of_a_process_wakes_immediately)
{
	struct child child;

	/*
	 * In the first round, one of two traced processes ends. In the second round, the only one
	 * does.
	 */
	for (int only = 0; only <= 1; only++) {
		if (only)
			ASSERT_EQ(0, child_start(&child, record_on_request, NULL));
		ASSERT_EQ(0, open_stream(only ? child.pid : 0, POSIX_TRACE_LOOP, 0, HOUR,
					 &self->trid));
		if (!only)
			ASSERT_EQ(0, child_start(&child, record_on_request, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
		say(&child.talk, 7);
		EXPECT_EQ(7, hear(&child.talk));
		EXPECT_FALSE(is_done(&self->reader));
		EXPECT_EQ(0, child_wait(&child));
		EXPECT_EQ(0, reader_end(&self->reader));
		EXPECT_EQ(7, event_number(&self->reader.event));
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

static jmp_buf before_the_event;

static void jump_away(void)
{
	longjmp(before_the_event, 1);
}

/* The writer does not call WAKE, so only the periodic check starts the timer. */
TEST_F(wakeup, event_of_a_writer_without_wakeup_is_reported)
{
	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, AGE, &self->trid));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	wakeups_instead = jump_away;
	if (!setjmp(before_the_event))
		record_number(1);
	wakeups_instead = NULL;
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(1, event_number(&self->reader.event));
}

/* ------------------------------------------------------------------ */
/* Pollers								*/

TEST_F(wakeup, poller_sleeps_until_the_age)
{
	unsigned long long before;
	int fd, epfd;

	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, AGE, &self->trid));
	fd = posixtrace_fd(self->trid);
	epfd = epoll_with(fd, EPOLLIN);
	ASSERT_LE(0, epfd);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, epoll_say(epfd, 0));
		before = monotonic();
		record_number(i);
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
		EXPECT_LE(AGE, monotonic() - before);
		/* poll() itself checks the stream, and thus finds the event immediately. */
		record_number(i);
		EXPECT_EQ(POLLIN, poll_say(fd, -1));
		EXPECT_EQ(2, take_all(self->trid));
	}
	close(epfd);
}

TEST_F(wakeup, edge_triggered_poller_gets_each_event_at_its_age)
{
	unsigned long long before;
	int epfd;

	ASSERT_EQ(0, open_stream(0, POSIX_TRACE_LOOP, 64 << 10, AGE, &self->trid));
	epfd = epoll_with(posixtrace_fd(self->trid), EPOLLIN | EPOLLET);
	ASSERT_LE(0, epfd);
	for (int i = 0; i < 3; i++) {
		before = monotonic();
		record_number(i);
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
		EXPECT_LE(AGE, monotonic() - before);
		EXPECT_EQ(1, take_all(self->trid));
	}
	close(epfd);
}

/* ------------------------------------------------------------------ */
/* The attributes							*/

FIXTURE(attr)
{
	trace_attr_t attr;
	size_t bytes;
	uint64_t ns;
};

FIXTURE_SETUP(attr)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

FIXTURE_TEARDOWN(attr)
{
}

TEST_F(attr, get_returns_what_set_gave)
{
	const uint64_t values[][2] = {
		{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 64 << 10, NSEC / 1000 }, { 1 << 30, HOUR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		ASSERT_EQ(0, posixtrace_attr_setwakeup(&self->attr, values[i][0], values[i][1]));
		ASSERT_EQ(0, posixtrace_attr_getwakeup(&self->attr, &self->bytes, &self->ns));
		EXPECT_EQ(values[i][0], self->bytes);
		EXPECT_EQ(values[i][1], self->ns);
	}
}

TEST_F(attr, set_refuses_bad_values_and_keeps_the_old_ones)
{
	ASSERT_EQ(0, posixtrace_attr_setwakeup(&self->attr, 1234, 5678));
	EXPECT_EQ(EINVAL, posixtrace_attr_setwakeup(&self->attr, (1 << 30) + 1, 0));
	EXPECT_EQ(EINVAL, posixtrace_attr_setwakeup(&self->attr, SIZE_MAX, 0));
	EXPECT_EQ(EINVAL, posixtrace_attr_setwakeup(&self->attr, 0, HOUR + 1));
	EXPECT_EQ(EINVAL, posixtrace_attr_setwakeup(&self->attr, 0, UINT64_MAX));
	EXPECT_EQ(EINVAL, posixtrace_attr_setwakeup(NULL, 1, 1));
	EXPECT_EQ(EINVAL, posixtrace_attr_getwakeup(&self->attr, NULL, &self->ns));
	EXPECT_EQ(EINVAL, posixtrace_attr_getwakeup(&self->attr, &self->bytes, NULL));
	EXPECT_EQ(EINVAL, posixtrace_attr_getwakeup(NULL, &self->bytes, &self->ns));
	ASSERT_EQ(0, posixtrace_attr_getwakeup(&self->attr, &self->bytes, &self->ns));
	EXPECT_EQ(1234, self->bytes);
	EXPECT_EQ(5678, self->ns);
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posixtrace_attr_setwakeup(&self->attr, 1, 1));
	EXPECT_EQ(EINVAL, posixtrace_attr_getwakeup(&self->attr, &self->bytes, &self->ns));
}

TEST_F(attr, stream_has_what_it_was_created_with)
{
	trace_attr_t attr;
	trace_id_t trid;

	ASSERT_EQ(0, posixtrace_attr_setwakeup(&self->attr, 12345, 6789));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &attr));
	ASSERT_EQ(0, posixtrace_attr_getwakeup(&attr, &self->bytes, &self->ns));
	EXPECT_EQ(12345, self->bytes);
	EXPECT_EQ(6789, self->ns);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, stream_has_as_many_bytes_as_wake_its_reader)
{
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, STREAM_SIZE));
	ASSERT_EQ(0, posixtrace_attr_setwakeup(&self->attr, STREAM_SIZE + 1, 1));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posixtrace_attr_setwakeup(&self->attr, STREAM_SIZE, 1));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
