// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of clocks that the module writes into logs: the truth must be within the bound, also when
 * the wall clock is set.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <time.h>

#include "log_reading.h"
#include "pxt_test.h"
#include "trace_test.h"
#include "withlog.h"

#define SEC	1000000000LL
#define UTC	POSIXTRACE_CLOCKID_UTC
#define UNKNOWN	POSIXTRACE_CLOCK_UNKNOWN
#define PAIRS	4096

static const struct log_kind append = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 };
static const struct log_kind until_full = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 32U << 10 };
static const struct log_kind ring = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 32U << 10 };

static const int clocks[] = { CLOCK_REALTIME, CLOCK_TAI, CLOCK_MONOTONIC, CLOCK_BOOTTIME };

static struct posixtrace_clock_pair pair[PAIRS];
static size_t pairs;

static int64_t reading_of(int clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * SEC + time.tv_nsec;
}

static void step_by(int64_t ns)
{
	const int64_t to = reading_of(CLOCK_REALTIME) + ns;
	const struct timespec time = { to / SEC, to % SEC };

	clock_settime(CLOCK_REALTIME, &time);
}

/* Readings of all clocks before and after an event. */
struct readings {
	int64_t before[ARRAY_SIZE(clocks)];
	int64_t after[ARRAY_SIZE(clocks)];
};

static void record(int number, struct readings *readings)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		readings->before[i] = reading_of(clocks[i]);
	withlog_record(number, 1);
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		readings->after[i] = reading_of(clocks[i]);
}

static int read_pairs(trace_id_t log)
{
	unsigned long long next = 0;
	size_t count;
	int err;

	for (pairs = 0; pairs < PAIRS; pairs += count) {
		err = posixtrace_get_clock_pairs(log, pair + pairs, PAIRS - pairs, &count, &next);
		if (err || !count)
			return err;
	}
	return E2BIG;
}

/* Number of pairs of a clock with these flags. */
static int count_pairs(int clock, unsigned int flags)
{
	int count = 0;

	for (size_t i = 0; i < pairs; i++)
		count += pair[i].clock == clock && (pair[i].flags & flags) == flags;
	return count;
}

/* The times of the user events of a log. Returns their number. */
static int event_times(trace_id_t log, uint64_t *times, int max)
{
	struct event event;
	int count = 0;

	while (count < max && log_take(log, &event) == 1)
		if (event.info.posix_event_id == withlog_type())
			times[count++] = event_time(&event);
	return count;
}

/* Counts the clocks that had no time between the readings, or had an unknown one. */
static int count_wrong(trace_id_t log, uint64_t time, const struct readings *readings)
{
	struct posixtrace_clock_time result;
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		wrong += posixtrace_convert_times(log, clocks[i], &time, 1, &result) ||
			 result.error > 10000000 ||
			 result.value + (int64_t)result.error < readings->before[i] ||
			 result.value - (int64_t)result.error > readings->after[i];
	return wrong;
}

FIXTURE(pairs)
{
	trace_id_t trid;
	trace_id_t log;
	int fd;
};

FIXTURE_SETUP(pairs)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	self->trid = -1;
	self->log = -1;
}

FIXTURE_TEARDOWN(pairs)
{
	posix_trace_shutdown(self->trid);
	posix_trace_close(self->log);
	close(self->fd);
}

static int end_and_open(struct _test_data_pairs *self)
{
	int err = posix_trace_shutdown(self->trid);

	self->trid = -1;
	if (!err)
		err = posix_trace_open(self->fd, &self->log);
	return err ? err : read_pairs(self->log);
}

/* Writes a log with one event, whose time it stores, and opens it. Returns 0, an error or -1. */
static int make_log(struct _test_data_pairs *self, struct readings *readings, uint64_t *time)
{
	int err = withlog_start(&append, self->fd, &self->trid);

	if (err)
		return err;
	record(0, readings);
	err = end_and_open(self);
	if (!err && event_times(self->log, time, 1) != 1)
		err = -1;
	return err;
}

TEST_F(pairs, are_at_start_and_end)
{
	const uint64_t before = reading_of(CLOCK_REALTIME);
	struct readings readings;
	uint64_t time;

	ASSERT_EQ(0, make_log(self, &readings, &time));
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		EXPECT_LE(2, count_pairs(clocks[i], 0));
		EXPECT_EQ(0, count_pairs(clocks[i], POSIXTRACE_CLOCK_STEPPED));
	}
	EXPECT_EQ(0, count_wrong(self->log, time, &readings));
	for (size_t i = 0; i < pairs; i++) {
		EXPECT_LE(before, pair[i].time);
		EXPECT_GE(reading_of(CLOCK_REALTIME), (int64_t)pair[i].time);
		EXPECT_NE(0, pair[i].error);
		/* A pair that is the last one of its clock is after the event. */
		if (i + 1 == pairs || pair[i + 1].clock != pair[i].clock)
			EXPECT_LT(time, pair[i].time);
		if (!i || pair[i - 1].clock != pair[i].clock)
			EXPECT_GT(time, pair[i].time);
	}
}

TEST_F(pairs, are_in_a_log_without_events)
{
	ASSERT_EQ(0, withlog_new(0, &append, self->fd, &self->trid));
	ASSERT_EQ(0, end_and_open(self));
	EXPECT_LE(1, count_pairs(CLOCK_REALTIME, 0));
}

TEST_F(pairs, are_in_a_log_that_became_full)
{
	struct posix_trace_status_info status;

	ASSERT_EQ(0, withlog_start(&until_full, self->fd, &self->trid));
	do {
		withlog_record(0, 200);
		ASSERT_EQ(0, withlog_flush(self->trid));
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_log_full_status != POSIX_TRACE_FULL);
	ASSERT_EQ(0, end_and_open(self));
	EXPECT_LE(2, count_pairs(CLOCK_TAI, 0));
	ASSERT_EQ(0, posix_trace_get_status(self->log, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_log_full_status);
}

TEST_F(pairs, are_in_a_ring_that_was_overwritten)
{
	struct posix_trace_status_info status;
	struct readings readings;
	uint64_t time[4096];
	int count;

	ASSERT_EQ(0, withlog_start(&ring, self->fd, &self->trid));
	for (int i = 0; i < 20; i++) {
		withlog_record(0, 200);
		ASSERT_EQ(0, withlog_flush(self->trid));
	}
	record(0, &readings);
	ASSERT_EQ(0, end_and_open(self));
	ASSERT_EQ(0, posix_trace_get_status(self->log, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_log_overrun_status);
	EXPECT_LE(2, count_pairs(CLOCK_REALTIME, 0));
	count = event_times(self->log, time, ARRAY_SIZE(time));
	ASSERT_LT(0, count);
	EXPECT_EQ(0, count_wrong(self->log, time[count - 1], &readings));
}

/* The truth is within the bound on both sides of each step. */
TEST_F(pairs, show_each_step_of_the_clock)
{
	static const int64_t steps[] = { 100 * SEC, -50 * SEC, -SEC / 1000, SEC / 1000, 7 };
	struct readings readings[ARRAY_SIZE(steps) + 1];
	uint64_t time[ARRAY_SIZE(steps) + 1];

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	record(0, &readings[0]);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		step_by(steps[i]);
		record(i + 1, &readings[i + 1]);
		if (i % 2)
			ASSERT_EQ(0, withlog_flush(self->trid));
	}
	ASSERT_EQ(0, end_and_open(self));
	step_by(-50 * SEC);
	EXPECT_EQ(ARRAY_SIZE(steps), count_pairs(CLOCK_REALTIME, POSIXTRACE_CLOCK_STEPPED));
	ASSERT_EQ(ARRAY_SIZE(steps) + 1, event_times(self->log, time, ARRAY_SIZE(time)));
	for (size_t i = 0; i < ARRAY_SIZE(time); i++)
		EXPECT_EQ(0, count_wrong(self->log, time[i], &readings[i]));
}

/* More steps than the module remembers: what it does not know has no bound. */
TEST_F(pairs, of_forgotten_steps_are_unknown)
{
	struct posixtrace_clock_time result;
	struct readings readings[2];
	uint64_t time[2], early;

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	record(0, &readings[0]);
	for (int i = 0; i < 50; i++)
		step_by(i % 2 ? 300 * SEC : -200 * SEC);
	record(1, &readings[1]);
	ASSERT_EQ(0, end_and_open(self));
	for (int i = 0; i < 25; i++)
		step_by(-100 * SEC);
	ASSERT_EQ(2, event_times(self->log, time, 2));
	EXPECT_EQ(0, count_wrong(self->log, time[1], &readings[1]));
	early = time[0];
	ASSERT_EQ(0, posixtrace_convert_times(self->log, CLOCK_REALTIME, &early, 1, &result));
	EXPECT_EQ(UNKNOWN, result.error);
}

TEST_F(pairs, continue_in_the_next_log)
{
	struct readings readings[2];
	int second = log_tmpfile();
	trace_id_t log;
	uint64_t time;

	ASSERT_LE(0, second);
	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	record(0, &readings[0]);
	step_by(-5 * SEC);
	ASSERT_EQ(0, posixtrace_rotate(self->trid, second, NULL));
	record(1, &readings[1]);
	ASSERT_EQ(0, end_and_open(self));
	step_by(5 * SEC);
	EXPECT_LE(2, count_pairs(CLOCK_REALTIME, 0));
	ASSERT_EQ(1, event_times(self->log, &time, 1));
	EXPECT_EQ(0, count_wrong(self->log, time, &readings[0]));

	ASSERT_EQ(0, posix_trace_open(second, &log));
	ASSERT_EQ(0, read_pairs(log));
	EXPECT_LE(2, count_pairs(CLOCK_REALTIME, 0));
	ASSERT_EQ(1, event_times(log, &time, 1));
	EXPECT_EQ(0, count_wrong(log, time, &readings[1]));
	EXPECT_EQ(0, posix_trace_close(log));
	close(second);
}

static uint64_t utc_error(trace_id_t log, uint64_t time)
{
	struct posixtrace_clock_time result;

	return posixtrace_convert_times(log, UTC, &time, 1, &result) ? 0 : result.error;
}

TEST_F(pairs, have_the_error_that_was_noted)
{
	struct readings readings;
	uint64_t time[3];

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	record(0, &readings);
	ASSERT_EQ(0, posixtrace_setclockerror(self->trid, 1000000));
	ASSERT_EQ(0, withlog_flush(self->trid));
	record(1, &readings);
	step_by(-SEC);
	record(2, &readings);
	ASSERT_EQ(0, end_and_open(self));
	step_by(SEC);
	ASSERT_EQ(3, event_times(self->log, time, 3));
	EXPECT_EQ(UNKNOWN, utc_error(self->log, time[0]));
	EXPECT_LE(1000000, utc_error(self->log, time[1]));
	EXPECT_GE(50000000, utc_error(self->log, time[1]));
	/* The clock was set. */
	EXPECT_EQ(UNKNOWN, utc_error(self->log, time[2]));
}

TEST_F(pairs, have_no_error_unless_it_was_noted)
{
	struct readings readings;
	uint64_t time;

	ASSERT_EQ(0, make_log(self, &readings, &time));
	EXPECT_EQ(UNKNOWN, utc_error(self->log, time));
	EXPECT_EQ(0, count_pairs(UTC, 0));
}

TEST_F(pairs, of_an_active_stream_are_not_supported)
{
	struct posixtrace_clock_time result;
	unsigned long long next = 0;
	const uint64_t time = 1;
	trace_id_t trid;
	size_t count;

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	EXPECT_EQ(ENOTSUP, posixtrace_get_clock_pairs(self->trid, pair, 1, &count, &next));
	EXPECT_EQ(ENOTSUP, posixtrace_convert_times(self->trid, UTC, &time, 1, &result));
	/* A stream without log cannot note an error. */
	ASSERT_EQ(0, new_roomy_stream(&trid));
	EXPECT_EQ(EINVAL, posixtrace_setclockerror(trid, 1));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posixtrace_setclockerror(trid, 1));
	/* A log with a larger error would be damaged. */
	EXPECT_EQ(EINVAL, posixtrace_setclockerror(self->trid, 1ULL << 60));
	EXPECT_EQ(EINVAL, posixtrace_setclockerror(self->trid, POSIXTRACE_CLOCK_UNKNOWN - 1));
	EXPECT_EQ(0, posixtrace_setclockerror(self->trid, (1ULL << 60) - 1));
}

TEST_HARNESS_MAIN
