// SPDX-License-Identifier: GPL-2.0
/*
 * Events that the stream lost before they reached the log. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>

#include "pxt_test.h"
#include "log_reading.h"

/* An expected event: its type and time. */
struct expected {
	int id;
	__u64 time;
};

#define USER	((int)POSIX_TRACE_UNNAMED_USEREVENT)

/*
 * Compares the log with @expected, which ends with id 0. Returns the index of the first difference,
 * or -1.
 */
static int differs(const struct log_writer *log, const struct expected *expected)
{
	struct event event;
	trace_id_t trid;
	int i = 0, id;

	if (log_open(log, &trid))
		return -2;
	for (;; i++) {
		id = log_take_id(trid, &event);
		if (id != expected[i].id || (id && log_time(&event) != expected[i].time))
			break;
		if (!id) {
			i = -1;
			break;
		}
	}
	if (i >= 0)
		printf("# %d: event %d of time %lld\n", i, id, (long long)log_time(&event));
	posix_trace_close(trid);
	return i;
}

static void block(struct log_writer *log, __u32 cpu, __u64 first, __u64 last)
{
	log_block_begin(log, POSIXTRACE_LOG_EVENTS, cpu);
	for (; first <= last; first++)
		log_event(log, first);
	log_block_end(log);
}

static void system_event(struct log_writer *log, int id, __u64 time)
{
	int automatic = 1;

	log_block_begin(log, POSIXTRACE_LOG_EVENTS, log->header.nr_cpus);
	log_event_id(log, id, time, &automatic, sizeof(automatic));
	log_block_end(log);
}

static void lose(struct log_writer *log, __u64 first, __u64 last)
{
	log->gap_generation++;
	log->gap_first = LOG_TIME0 + first;
	log->overwrite_watermark = last ? LOG_TIME0 + last : log->overwrite_watermark;
}

TEST(loop_stream)
{
	static const struct expected expected[] = {
		{ USER, 1 }, { USER, 2 },
		{ POSIX_TRACE_OVERFLOW, 3 }, { POSIX_TRACE_RESUME, 10 },
		{ USER, 10 }, { USER, 11 }, { USER, 12 },
		{ POSIX_TRACE_OVERFLOW, 13 }, { POSIX_TRACE_RESUME, 20 },
		{ USER, 20 }, { 0, 0 },
	};
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
	block(&log, 0, 1, 2);
	log.epoch++;
	lose(&log, 3, 9);
	block(&log, 1, 10, 11);
	block(&log, 0, 12, 12);
	log.epoch++;
	lose(&log, 13, 19);
	block(&log, 0, 20, 20);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(-1, differs(&log, expected));
	log_sum_log(&log, &sum);
	EXPECT_EQ(2, sum.gaps);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);
	log_free(&log);
}

/* Gets the next event as a batch. Returns its type, 0 at the end, or -1. */
static int take_one(trace_id_t trid, struct posixtrace_batch_event *event)
{
	static __u64 data[LOG_MAX_DATA / 8];
	size_t count;

	if (posixtrace_getevents(trid, event, 1, data, sizeof(data), &count, POSIXTRACE_NOWAIT))
		return -1;
	return count ? (int)event->event.posix_event_id : 0;
}

/*
 * Each event has the number of events that were lost before it. A gap counts only after its RESUME.
 */
TEST(lost_events_are_counted)
{
	static const struct {
		int id;
		unsigned long long lost;
		unsigned int cpu;
	} expected[] = {
		{ USER, 0, 0 }, { USER, 0, 0 }, { USER, 0, 0 },
		{ POSIX_TRACE_OVERFLOW, 0, POSIXTRACE_NO_CPU },
		{ POSIX_TRACE_RESUME, 8, POSIXTRACE_NO_CPU },
		{ USER, 8, 1 }, { USER, 8, 1 }, { USER, 8, 0 },
		{ POSIX_TRACE_OVERFLOW, 8, POSIXTRACE_NO_CPU },
		{ POSIX_TRACE_RESUME, 17, POSIXTRACE_NO_CPU },
		{ USER, 17, 0 },
		{ POSIX_TRACE_STOP, 17, POSIXTRACE_NO_CPU },
		{ POSIX_TRACE_OVERFLOW, 17, POSIXTRACE_NO_CPU },
		{ POSIX_TRACE_RESUME, 17, POSIXTRACE_NO_CPU },
		{ USER, 17, 1 },
	};
	struct posixtrace_batch_event event;
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
	/*
	 * The header of this block counts lost events that are later than the events of the block.
	 */
	log.lost = 3;
	block(&log, 0, 1, 3);
	log.epoch++;
	lose(&log, 4, 9);
	log.lost = 6;
	/* Two of these events are not newer than the overwrite watermark, so they are skipped. */
	block(&log, 1, 8, 11);
	block(&log, 0, 12, 12);
	log.epoch++;
	lose(&log, 13, 19);
	log.lost = 15;
	block(&log, 0, 20, 20);
	system_event(&log, POSIX_TRACE_STOP, 21);
	log.epoch++;
	/* Forged: the number decreases. */
	lose(&log, 22, 23);
	log.lost = 1;
	block(&log, 1, 24, 24);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&log, &trid));
	/* Read from the start, twice. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
			memset(&event, 'z', sizeof(event));
			ASSERT_EQ(expected[i].id, take_one(trid, &event));
			EXPECT_EQ(expected[i].lost, event.lost);
			EXPECT_EQ(expected[i].cpu, event.cpu);
			for (size_t k = 0; k < ARRAY_SIZE(event.__reserved); k++)
				EXPECT_EQ(0, event.__reserved[k]);
		}
		EXPECT_EQ(0, take_one(trid, &event));
		ASSERT_EQ(0, posix_trace_rewind(trid));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

/*
 * In a LOOP log, the oldest event has the number of all events lost before it. Later events are as
 * usual.
 */
TEST(lost_events_of_a_loop_log)
{
	struct posixtrace_batch_event event;
	struct log_writer log;
	unsigned int id = 0;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1, 4096);
	lose(&log, 1, 5);
	log.lost = 5;
	/* More than the log holds. */
	for (__u64 time = 6; time < 606; time += 20, log.epoch++)
		block(&log, 0, time, time + 19);
	lose(&log, 606, 608);
	log.lost = 8;
	block(&log, 0, 609, 609);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&log, &trid));
	ASSERT_EQ(USER, take_one(trid, &event));
	do {
		EXPECT_EQ(5, event.lost);
		id = take_one(trid, &event);
	} while (id == USER);
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, id);
	EXPECT_EQ(5, event.lost);
	EXPECT_EQ(POSIX_TRACE_RESUME, take_one(trid, &event));
	EXPECT_EQ(8, event.lost);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

/* A clear also resets the number of lost events. */
TEST(lost_events_before_a_reset)
{
	struct posixtrace_batch_event event;
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 1, 0);
	lose(&log, 1, 5);
	log.lost = 5;
	block(&log, 0, 6, 7);
	log_reset(&log);
	log.lost = 0;
	block(&log, 0, 10, 10);
	lose(&log, 11, 12);
	log.lost = 2;
	block(&log, 0, 13, 13);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&log, &trid));
	ASSERT_EQ(USER, take_one(trid, &event));
	EXPECT_EQ(0, event.lost);
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_one(trid, &event));
	EXPECT_EQ(0, event.lost);
	ASSERT_EQ(POSIX_TRACE_RESUME, take_one(trid, &event));
	EXPECT_EQ(2, event.lost);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

/*
 * Events of a slower CPU from the time of the gap also count as lost, unless they were flushed
 * before.
 */
TEST(watermark)
{
	static const struct expected expected[] = {
		{ USER, 1 }, { USER, 2 }, { USER, 5 }, { USER, 6 },
		{ POSIX_TRACE_OVERFLOW, 3 }, { POSIX_TRACE_RESUME, 10 },
		{ USER, 10 }, { USER, 11 }, { 0, 0 },
	};
	struct log_writer log;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 3, 0);
	block(&log, 0, 1, 2);
	block(&log, 1, 5, 6);
	log.epoch++;
	lose(&log, 3, 9);
	block(&log, 2, 7, 10);
	block(&log, 0, 11, 11);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(-1, differs(&log, expected));
	log_free(&log);
}

TEST(log_begins_after_a_loss)
{
	static const struct expected expected[] = {
		{ POSIX_TRACE_OVERFLOW, 3 }, { POSIX_TRACE_RESUME, 10 }, { USER, 10 }, { 0, 0 },
	};
	struct log_writer log;

	log_begin(&log, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 2, 0);
	lose(&log, 3, 9);
	block(&log, 0, 8, 10);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(-1, differs(&log, expected));
	log_free(&log);
}

/* No event follows, so there is no RESUME. */
TEST(log_ends_in_a_loss)
{
	static const struct expected expected[] = { { USER, 1 }, { 0, 0 } };
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 2, 0);
	block(&log, 0, 1, 1);
	lose(&log, 2, 9);
	block(&log, 0, 8, 9);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(-1, differs(&log, expected));
	log_sum_log(&log, &sum);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
	log_free(&log);
}

/*
 * The blocks of the first flush report that the stream is full, although it became full after their
 * events.
 */
TEST(full_stream)
{
	static const struct expected expected[] = {
		{ POSIX_TRACE_START, 1 }, { USER, 2 }, { USER, 3 }, { USER, 4 }, { USER, 5 },
		{ POSIX_TRACE_STOP, 6 },
		{ POSIX_TRACE_OVERFLOW, 6 }, { POSIX_TRACE_RESUME, 9 },
		{ POSIX_TRACE_START, 9 }, { USER, 10 }, { USER, 11 }, { USER, 12 },
		{ POSIX_TRACE_STOP, 13 },
		{ POSIX_TRACE_OVERFLOW, 13 }, { POSIX_TRACE_RESUME, 20 },
		{ POSIX_TRACE_START, 20 }, { USER, 21 }, { 0, 0 },
	};
	struct log_writer log;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	lose(&log, 6, 0);
	block(&log, 0, 2, 3);
	block(&log, 1, 4, 5);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 2);
	log_event_id(&log, POSIX_TRACE_START, 1, "", 0);
	log_event_id(&log, POSIX_TRACE_STOP, 6, "", 0);
	log_block_end(&log);
	log.epoch++;
	lose(&log, 13, 0);
	block(&log, 1, 10, 11);
	block(&log, 0, 12, 12);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 2);
	log_event_id(&log, POSIX_TRACE_START, 9, "", 0);
	log_event_id(&log, POSIX_TRACE_STOP, 13, "", 0);
	log_block_end(&log);
	log.epoch++;
	system_event(&log, POSIX_TRACE_START, 20);
	block(&log, 0, 21, 21);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(-1, differs(&log, expected));
	log_free(&log);
}

/*
 * There are more simultaneous gaps than the reader can store. It reports the rest as a single gap.
 */
TEST(many_gaps)
{
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
	for (int i = 0; i < 100; i++) {
		lose(&log, 10 * i, 10 * i + 5);
		block(&log, i % 2, 10 * i + 6, 10 * i + 9);
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(400, sum.events);
	EXPECT_EQ(0, sum.disorder);
	EXPECT_LE(1, sum.gaps);
	EXPECT_GE(100, sum.gaps);
	log_free(&log);
}

/* Any number of gaps is possible if they are read one after the other. */
TEST(gap_after_gap)
{
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
	for (int i = 0; i < 100; i++) {
		lose(&log, 10 * i, 10 * i + 5);
		block(&log, i % 2, 10 * i + 6, 10 * i + 9);
		log.epoch++;
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&log, &sum);
	EXPECT_EQ(400, sum.events);
	EXPECT_EQ(100, sum.gaps);
	log_free(&log);
}

/*
 * If blocks of a ring were overwritten, the log does not start with a gap. The status reports the
 * loss.
 */
TEST(overwritten_ring)
{
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 2, 16 << 10);
	lose(&log, 1, 5);
	for (int i = 1; i < 50; i++) {
		block(&log, i % 2, 100 * i, 100 * i + 20);
		log.epoch++;
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(0, sum.gaps);
	EXPECT_EQ(0, sum.errors);
	EXPECT_LT(100, sum.events);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_FULL, sum.status.posix_log_full_status);
	/* Later gaps are reported. */
	lose(&log, 5000, 5005);
	block(&log, 0, 5006, 5010);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&log, &sum);
	EXPECT_EQ(1, sum.gaps);
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* Cleared while it passes through a pipe				*/

TEST(reset_discards_earlier_events)
{
	static const struct expected expected[] = {
		{ USER, 30 }, { USER, 31 },
		{ POSIX_TRACE_OVERFLOW, 32 }, { POSIX_TRACE_RESUME, 40 }, { USER, 40 },
		{ 0, 0 },
	};
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
	log_name(&log, 65, "from before");
	block(&log, 0, 1, 20);
	log_reset(&log);
	lose(&log, 21, 25);
	block(&log, 0, 26, 28);
	log_reset(&log);
	block(&log, 0, 30, 31);
	lose(&log, 32, 35);
	block(&log, 0, 40, 40);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(-1, differs(&log, expected));
	/* Event types are kept. */
	ASSERT_EQ(0, log_open(&log, &trid));
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, 65, name));
	EXPECT_STREQ("from before", name);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

/* Losses before RESET do not count, even if RESET has a smaller number of lost events. */
TEST(reset_after_a_gap)
{
	static const struct expected expected[] = {
		{ USER, 30 }, { POSIX_TRACE_OVERFLOW, 31 }, { POSIX_TRACE_RESUME, 40 },
		{ USER, 40 }, { 0, 0 },
	};
	struct log_writer log;
	struct log_sum sum;
	__u64 generation;

	for (int in_reset = 0; in_reset < 2; in_reset++) {
		log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
		lose(&log, 1, 5);
		block(&log, 0, 6, 20);
		generation = log.gap_generation;
		if (!in_reset)
			log.gap_generation = 0;
		log_reset(&log);
		log.gap_generation = generation;
		block(&log, 0, 30, 30);
		log_sum_log(&log, &sum);
		EXPECT_EQ(0, sum.gaps);
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_stream_overrun_status);
		lose(&log, 31, 35);
		block(&log, 0, 40, 40);
		EXPECT_EQ(-1, differs(&log, expected));
		log_free(&log);
	}
}

TEST_HARNESS_MAIN
