// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_get_clock_pairs() and posixtrace_convert_times(): pairs of clocks in logs, also in
 * forged ones. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>
#include <time.h>

#include "pxt_test.h"
#include "log_reading.h"

#define SEC	1000000000ULL
#define T(s)	(LOG_TIME0 + (s) * SEC)
#define STEPPED	POSIXTRACE_LOG_CLOCK_STEPPED
#define UTC	POSIXTRACE_CLOCKID_UTC
#define UNKNOWN	POSIXTRACE_CLOCK_UNKNOWN
#define PAIRS	64

FIXTURE(clocks)
{
	struct log_writer log;
	trace_id_t trid;
	struct posixtrace_clock_pair pair[PAIRS];
	size_t count;
};

FIXTURE_SETUP(clocks)
{
	log_begin(&self->log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
}

FIXTURE_TEARDOWN(clocks)
{
	log_free(&self->log);
}

static size_t put_block(struct log_writer *log, const struct posixtrace_log_clock *pairs,
			__u32 count, __u32 said)
{
	return log_metadata(log, POSIXTRACE_LOG_CLOCKS, POSIXTRACE_LOG_BLOCK_OPTIONAL, said, pairs,
			    count * sizeof(*pairs));
}

/* Writes the pairs in one block. */
#define put(log, ...) do { \
	const struct posixtrace_log_clock put_pairs[] = { __VA_ARGS__ }; \
	put_block(log, put_pairs, ARRAY_SIZE(put_pairs), ARRAY_SIZE(put_pairs)); \
} while (0)

static int read_pairs(struct _test_data_clocks *self)
{
	unsigned long long next = 0;
	size_t count;
	int err;

	self->count = 0;
	do {
		err = posixtrace_get_clock_pairs(self->trid, self->pair + self->count, 3, &count,
						 &next);
		if (err)
			return err;
		self->count += count;
	} while (count && self->count + 3 <= PAIRS);
	return 0;
}

/* Converts a time. A failure gives a value of -1. */
static struct posixtrace_clock_time to(struct _test_data_clocks *self, int clock, uint64_t time)
{
	struct posixtrace_clock_time result;

	if (posixtrace_convert_times(self->trid, clock, &time, 1, &result))
		result = (struct posixtrace_clock_time){ -1, 0 };
	return result;
}

#define EXPECT_TIME(expected, max_error, result) do { \
	const struct posixtrace_clock_time got = (result); \
	EXPECT_EQ((int64_t)(expected), got.value); \
	EXPECT_EQ((uint64_t)(max_error), got.error); \
} while (0)

TEST_F(clocks, pairs_are_in_the_order_of_clocks_and_times)
{
	put(&self->log, { T(2), T(2), 5, CLOCK_TAI, 0 }, { T(1), T(1), 5, CLOCK_REALTIME, 0 });
	log_epochs(&self->log, 1, 3, 10);
	put(&self->log, { T(1), T(1), 6, CLOCK_TAI, STEPPED | 2 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	ASSERT_EQ(0, read_pairs(self));
	ASSERT_EQ(3, self->count);
	EXPECT_EQ(CLOCK_REALTIME, self->pair[0].clock);
	EXPECT_EQ(CLOCK_TAI, self->pair[1].clock);
	EXPECT_EQ(T(1), self->pair[1].time);
	EXPECT_EQ((int64_t)T(1), self->pair[1].value);
	EXPECT_EQ(6, self->pair[1].error);
	EXPECT_EQ(POSIXTRACE_CLOCK_STEPPED, self->pair[1].flags);
	EXPECT_EQ(T(2), self->pair[2].time);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, time_between_two_pairs_is_within_both)
{
	put(&self->log, { T(1), T(11), 20, CLOCK_TAI, 0 }, { T(5), T(15) + 30, 20, CLOCK_TAI, 0 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_TIME(T(12) + 15, 5, to(self, CLOCK_TAI, T(2)));
	EXPECT_EQ(-1, to(self, CLOCK_MONOTONIC, T(2)).value);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, error_grows_outside_of_the_pairs)
{
	put(&self->log, { T(10), T(20), 5, CLOCK_REALTIME, 0 },
	    { T(11), T(21), 7, CLOCK_REALTIME, 0 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_TIME(T(19), 5 + SEC / 2000, to(self, CLOCK_REALTIME, T(9)));
	EXPECT_TIME(T(22), 7 + SEC / 2000, to(self, CLOCK_REALTIME, T(12)));
	EXPECT_TIME(T(21) + 1, 7 + 1, to(self, CLOCK_REALTIME, T(11) + 1));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, no_bound_across_a_step)
{
	/* Set back by 5 s at T(3): the clock of the events continues. */
	put(&self->log, { T(1), T(1), 1, CLOCK_REALTIME, 0 }, { T(3), T(3), 1, CLOCK_REALTIME, 0 },
	    { T(3), T(3) - 5 * SEC, 1, CLOCK_REALTIME, STEPPED },
	    { T(8), T(3), 1, CLOCK_REALTIME, 0 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_TIME(T(2), 1, to(self, CLOCK_REALTIME, T(2)));
	EXPECT_TIME(T(3) - 1, 1, to(self, CLOCK_REALTIME, T(3) - 1));
	EXPECT_TIME(T(4) - 5 * SEC, 1, to(self, CLOCK_REALTIME, T(4)));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	/* Nothing is known about the time between pairs with a step between them. */
	put(&self->log, { T(9), T(9), 1, CLOCK_REALTIME, STEPPED });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(UNKNOWN, to(self, CLOCK_REALTIME, T(8) + 1).error);
	EXPECT_TIME(T(9), 1, to(self, CLOCK_REALTIME, T(9)));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, nothing_is_known_before_a_first_pair_after_a_step)
{
	put(&self->log, { T(5), T(5), 1, CLOCK_REALTIME, STEPPED });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(UNKNOWN, to(self, CLOCK_REALTIME, T(5) - 1).error);
	EXPECT_TIME(T(5), 1, to(self, CLOCK_REALTIME, T(5)));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, pairs_that_contradict_each_other_give_no_bound)
{
	put(&self->log, { T(1), T(1), 10, CLOCK_TAI, 0 }, { T(2), T(2) + 100, 10, CLOCK_TAI, 0 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(UNKNOWN, to(self, CLOCK_TAI, T(1) + 1).error);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, error_of_utc_is_unknown_unless_it_was_noted)
{
	put(&self->log, { T(1), T(1), 1, CLOCK_REALTIME, 0 },
	    { T(20), T(20), 1, CLOCK_REALTIME, 0 },
	    { T(5), T(5), 1000, UTC, 0 }, { T(9), T(9), UNKNOWN, UTC, 0 },
	    { T(11), T(11), 0, UTC, 0 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_TIME(T(4), UNKNOWN, to(self, UTC, T(4)));
	EXPECT_TIME(T(5), 1001, to(self, UTC, T(5)));
	EXPECT_TIME(T(7), 1001 + 2 * SEC / 2000, to(self, UTC, T(7)));
	EXPECT_TIME(T(10), UNKNOWN, to(self, UTC, T(10)));
	/* After the last pair of CLOCK_REALTIME, both errors grow. */
	EXPECT_TIME(T(22), 1 + 2 * SEC / 2000 + 11 * SEC / 2000, to(self, UTC, T(22)));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, log_without_pairs_converts_nothing)
{
	log_epochs(&self->log, 1, 3, 10);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	ASSERT_EQ(0, read_pairs(self));
	EXPECT_EQ(0, self->count);
	EXPECT_EQ(-1, to(self, CLOCK_REALTIME, T(1)).value);
	EXPECT_EQ(-1, to(self, UTC, T(1)).value);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, forged_pairs_are_left_out)
{
	const struct posixtrace_log_clock forged[] = {
		{ ~0ULL, 0, 0, CLOCK_TAI, 0 },
		{ 1ULL << 62, 0, 0, CLOCK_TAI, 0 },
		{ T(1), -1, 0, CLOCK_TAI, 0 },
		{ T(1), INT64_MIN, 0, CLOCK_TAI, 0 },
		{ T(1), 1LL << 62, 0, CLOCK_TAI, 0 },
		{ T(1), 1, 1ULL << 60, CLOCK_TAI, 0 },
		{ T(1), 1, ~0ULL - 1, CLOCK_TAI, 0 },
	};
	struct posixtrace_log_info info;

	put_block(&self->log, forged, ARRAY_SIZE(forged), ARRAY_SIZE(forged));
	/* The count does not fit into the block. */
	put_block(&self->log, forged, 1, 2);
	put_block(&self->log, forged, 1, ~0U);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	ASSERT_EQ(0, read_pairs(self));
	EXPECT_EQ(0, self->count);
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
	EXPECT_TRUE(info.flags & POSIXTRACE_LOG_DAMAGED);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, extreme_pairs_and_times_do_not_overflow)
{
	const uint64_t most = (1ULL << 62) - 1, error = (1ULL << 60) - 1;
	const uint64_t times[] = { 0, 1, T(1), most, most + 1, INT64_MAX, UINT64_MAX };

	put(&self->log, { 0, most, error, CLOCK_REALTIME, 0 },
	    { most, 0, error, CLOCK_REALTIME, 0 },
	    { 0, most, error, UTC, 0 }, { 0, 0, UNKNOWN, CLOCK_TAI, 0 },
	    { most, most, error, CLOCK_TAI, 0 }, { INT32_MAX, 0, 0, INT32_MAX, ~0U },
	    { INT32_MAX, 0, 0, INT32_MIN, ~0U });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	ASSERT_EQ(0, read_pairs(self));
	EXPECT_EQ(7, self->count);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		EXPECT_EQ(i == 3 ? error : UNKNOWN, to(self, CLOCK_REALTIME, times[i]).error);
		to(self, UTC, times[i]);
		to(self, CLOCK_TAI, times[i]);
	}
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(clocks, bad_arguments_are_refused)
{
	const uint64_t time = T(1);
	struct posixtrace_clock_time result;
	unsigned long long next = 0;
	size_t count;

	put(&self->log, { T(1), T(1), 1, CLOCK_REALTIME, 0 });
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_clock_pairs(self->trid, NULL, 1, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_clock_pairs(self->trid, self->pair, 0, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_clock_pairs(self->trid, self->pair, 1, NULL, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_clock_pairs(self->trid, self->pair, 1, &count, NULL));
	EXPECT_EQ(EINVAL, posixtrace_get_clock_pairs(-1, self->pair, 1, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_convert_times(self->trid, CLOCK_REALTIME, NULL, 1, &result));
	EXPECT_EQ(EINVAL, posixtrace_convert_times(self->trid, CLOCK_REALTIME, &time, 1, NULL));
	EXPECT_EQ(EINVAL, posixtrace_convert_times(self->trid, CLOCK_MONOTONIC_RAW, &time, 1,
						   &result));
	EXPECT_EQ(EINVAL, posixtrace_convert_times(-1, CLOCK_REALTIME, &time, 1, &result));
	EXPECT_EQ(0, posixtrace_convert_times(self->trid, CLOCK_REALTIME, &time, 0, &result));
	EXPECT_EQ(EINVAL, posixtrace_setclockerror(self->trid, 1));
	next = ~0ULL;
	EXPECT_EQ(0, posixtrace_get_clock_pairs(self->trid, self->pair, 1, &count, &next));
	EXPECT_EQ(0, count);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_HARNESS_MAIN
