// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_timedgetnext_event():
 * Documentation/conformance/posix_trace_timedgetnext_event.rst
 */
#define _GNU_SOURCE
#include "getnext_stream.h"

static const struct timespec past, never = { INT32_MAX, 0 };

static struct timespec in_future(unsigned long long nsec)
{
	return to_timespec(now() + nsec);
}

TEST_F(getnext, a01_reports_a_recorded_event)
{
	record_number(17);
	ASSERT_EQ(0, read_timed(self->trid, &self->event, ROOM, &never));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_EQ(sizeof(int), self->event.len);
	EXPECT_EQ(17, event_number(&self->event));
	EXPECT_EQ(0, self->event.unavailable);
}

TEST_F(getnext, a01_with_the_data_that_fits)
{
	char data[257] = "0123456789";

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 10);
	ASSERT_EQ(0, read_timed(self->trid, &self->event, 10, &never));
	EXPECT_EQ(10, self->event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	ASSERT_EQ(0, read_timed(self->trid, &self->event, 256, &never));
	EXPECT_EQ(256, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	memset(self->event.data, 'z', 10);
	ASSERT_EQ(0, read_timed(self->trid, &self->event, 9, &never));
	EXPECT_EQ(9, self->event.len);
	EXPECT_EQ(0, memcmp("012345678z", self->event.data, 10));
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->event.info.posix_truncation_status);
}

TEST_F(getnext, a01_oldest_first_and_once)
{
	for (int i = 0; i < 20; i++) {
		run_on(i / 3);
		record_number(i);
	}
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, read_timed(self->trid, &self->event, ROOM, &past));
		ASSERT_EQ(i, event_number(&self->event));
	}
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, ROOM, &past));
}

TEST_F(getnext, a02_waits_for_an_event)
{
	const struct timespec hour = in_future(3600 * NSEC);
	struct reader reader;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, reader_start_over(&reader, self->trid, i % 2 ? &hour : &never, -1));
		record_number(i);
		EXPECT_EQ(0, reader_end(&reader));
		EXPECT_EQ(i, event_number(&reader.event));
		EXPECT_EQ(0, reader.event.unavailable);
	}
}

TEST_F(getnext, a03_wait_ends_at_the_time)
{
	const struct timespec soon = in_future(NSEC / 50);

	self->event.unavailable = 0;
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, ROOM, &soon));
	EXPECT_NE(0, self->event.unavailable);
}

/* An event of another stream does not end the wait. */
TEST_F(getnext, a03_wait_on_a_suspended_stream_ends_at_the_time)
{
	const struct timespec soon = in_future(NSEC / 50);
	trace_id_t suspended;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &suspended));
	record_number(1);
	EXPECT_EQ(ETIMEDOUT, read_timed(suspended, &self->event, ROOM, &soon));
	EXPECT_EQ(0, posix_trace_shutdown(suspended));
}

TEST_F(getnext, a04_not_before_the_time)
{
	for (int i = 0; i < 20; i++) {
		unsigned long long deadline = now() + NSEC / 500 + 37 * i;
		const struct timespec soon = to_timespec(deadline);

		ASSERT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, ROOM, &soon));
		ASSERT_LE(deadline, now());
	}
}

TEST_F(getnext, a05_time_that_has_passed)
{
	const struct timespec times[] = {
		{ 0, 0 }, { 1, 999999999 }, { -1, 0 }, { INT64_MIN, 0 }, in_future(0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, ROOM, &times[i]));
}

/* ------------------------------------------------------------------ */
/* The clock is set							*/

/*
 * A child restores the clock when the test ends or dies. It computes the correct time from
 * CLOCK_MONOTONIC, which the test does not change.
 */
static int guard_clock(void *arg, const struct talk *talk)
{
	unsigned long long offset = now() - clock_now(CLOCK_MONOTONIC);
	struct timespec time;

	(void)arg;
	say(talk, 0);
	while (hear(talk) != -EPIPE)
		;
	time = to_timespec(clock_now(CLOCK_MONOTONIC) + offset);
	return clock_settime(CLOCK_REALTIME, &time);
}

static int step_clock(long long seconds)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += seconds;
	return clock_settime(CLOCK_REALTIME, &time);
}

TEST_F(getnext, a06_clock_set_past_the_time)
{
	const struct timespec later = in_future(100 * NSEC);
	struct reader reader;
	struct child guard;

	ASSERT_EQ(0, child_start(&guard, guard_clock, NULL));
	ASSERT_EQ(0, hear(&guard.talk));
	ASSERT_EQ(0, reader_start(&reader, self->trid, &later));
	ASSERT_EQ(0, step_clock(1000));
	EXPECT_EQ(ETIMEDOUT, reader_end(&reader));
	EXPECT_EQ(0, child_wait(&guard));
}

/*
 * The reader wakes up when the new clock reaches the time, not when the old clock would have done
 * so.
 */
TEST_F(getnext, a07_clock_set_back)
{
	struct timespec later, until;
	struct reader reader;
	struct child guard;

	ASSERT_EQ(0, child_start(&guard, guard_clock, NULL));
	ASSERT_EQ(0, hear(&guard.talk));
	later = in_future(pxt_time_scale() * NSEC / 4);
	until = to_timespec(clock_now(CLOCK_MONOTONIC) + pxt_time_scale() * NSEC / 2);
	ASSERT_EQ(0, reader_start(&reader, self->trid, &later));
	ASSERT_EQ(0, step_clock(-1000));
	/* Wait twice as long as the timeout that the old clock would have given. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	EXPECT_TRUE(reader_sleeps(&reader));
	ASSERT_EQ(0, step_clock(2000));
	EXPECT_EQ(ETIMEDOUT, reader_end(&reader));
	EXPECT_EQ(0, child_wait(&guard));
}

TEST_F(getnext, a07_event_after_the_clock_was_set_back)
{
	const struct timespec later = in_future(100 * NSEC);
	struct reader reader;
	struct child guard;

	ASSERT_EQ(0, child_start(&guard, guard_clock, NULL));
	ASSERT_EQ(0, hear(&guard.talk));
	record_number(1);
	ASSERT_EQ(0, read_timed(self->trid, &self->event, ROOM, &later));
	ASSERT_EQ(0, reader_start(&reader, self->trid, &later));
	ASSERT_EQ(0, step_clock(-1000));
	record_number(2);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, reader.event.info.posix_event_id);
	EXPECT_EQ(2, event_number(&reader.event));
	/* The times of a stream never go backwards. */
	EXPECT_LT(event_time(&self->event), event_time(&reader.event));
	EXPECT_EQ(0, child_wait(&guard));
}

/* ------------------------------------------------------------------ */

TEST_F(getnext, a08_no_timeout_if_an_event_is_there)
{
	for (int i = 0; i < 5; i++) {
		record_number(i);
		EXPECT_EQ(0, read_timed(self->trid, &self->event, ROOM, &past));
		EXPECT_EQ(i, event_number(&self->event));
		EXPECT_EQ(0, self->event.unavailable);
	}
}

static const struct timespec invalid[] = {
	{ 0, -1 }, { 1, 1000000000 }, { INT32_MAX, 1000000000 }, { INT32_MAX, INT64_MIN },
	{ INT32_MAX, INT64_MAX }, { -1, -1 },
};

TEST_F(getnext, a09_time_is_not_checked_if_an_event_is_there)
{
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		record_number(i);
		EXPECT_EQ(0, read_timed(self->trid, &self->event, ROOM, &invalid[i]));
		EXPECT_EQ(i, event_number(&self->event));
	}
}

TEST_F(getnext, a10_invalid_time_and_no_event)
{
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		self->event.unavailable = 0;
		EXPECT_EQ(EINVAL, read_timed(self->trid, &self->event, ROOM, &invalid[i]));
		EXPECT_NE(0, self->event.unavailable);
	}
	/* The largest valid value. */
	record_number(1);
	EXPECT_EQ(0, read_timed(self->trid, &self->event, ROOM,
				&(struct timespec){ INT64_MAX, 999999999 }));
}

TEST_F(getnext, a10_largest_valid_time_is_accepted)
{
	const struct timespec largest = { INT64_MAX, 999999999 };
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, &largest));
	record_number(1);
	EXPECT_EQ(0, reader_end(&reader));
}

TEST_F(getnext, a11_returns_zero_or_the_error_and_keeps_errno)
{
	record_number(1);
	errno = 4711;
	EXPECT_EQ(0, read_timed(self->trid, &self->event, ROOM, &past));
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, ROOM, &past));
	EXPECT_EQ(4711, errno);
}

static int read_at_any_time(trace_id_t trid)
{
	struct event event;

	return read_timed(trid, &event, ROOM, &never);
}

static int read_late(trace_id_t trid)
{
	struct event event;

	return read_timed(trid, &event, ROOM, &past);
}

TEST_F(getnext, a12_bad_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(read_at_any_time, self->trid));
	EXPECT_EQ(0, bad_trids_accepted(read_late, self->trid));
}

TEST_F(getnext, a13_shutdown_ends_the_wait)
{
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, &never));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, reader_end(&reader));
}

TEST_F(getnext, a14_signal_interrupts)
{
	expect_interrupted(_metadata, self->trid, &never);
	/* The interrupted call has consumed no event. */
	record_number(1);
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
}

TEST(a15_events_of_a_log)
{
	/* For a log, the time is neither checked nor waited for. */
	const struct timespec times[] = { { 0, 0 }, { 0, -1 }, { INT32_MAX, 0 } };
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, log_open_events(20, &trid));
	for (int i = 0; i < 23; i++) {
		ASSERT_EQ(0, posix_trace_timedgetnext_event(trid, &event.info, event.data, ROOM,
							    &event.len, &event.unavailable,
							    &times[i % 3]));
		EXPECT_EQ(i >= 20, event.unavailable);
		if (i < 20)
			EXPECT_EQ((__u64)i, log_time(&event));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(logged, a16_einval_for_an_active_stream_with_log)
{
	withlog_record(0, 10);
	EXPECT_EQ(0, withlog_readable(self->trid));
}

TEST_HARNESS_MAIN
