// SPDX-License-Identifier: GPL-2.0
/*
 * The policies LOOP and UNTIL_FULL when all sub-buffers are in use.
 */
#define _GNU_SOURCE
#include <poll.h>

#include "policy_writer.h"

/* Data that fills a stream with few records. */
struct payload {
	int number;
	char filler[196];
};

static int write_one(struct writer *writer, int number)
{
	struct payload payload = { .number = number };

	return write_alternately(writer, number, &payload, sizeof(payload));
}

static unsigned int flags_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0U : status.flags;
}

static unsigned long long lost_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0ULL : status.lost;
}

/* Writes until the stream reports a loss. Returns the number of events. */
static int write_until_overrun(struct stream *stream, struct writer *writer)
{
	for (int i = 0; i < 10000; i++) {
		int ret = write_one(writer, i);

		if (ret && ret != -ENOSPC)
			return ret;
		if (flags_of(stream) & POSIXTRACE_STATUS_OVERRUN)
			return i + 1;
	}
	return -ETIME;
}

TEST_F(policy, recorded_and_lost_add_up)
{
	struct record record;
	int taken = 0, bytes = 0;

	for (int i = 0; i < 1500; i++)
		write_one(&self->writer, i);
	ASSERT_EQ(0, stream_stop(&self->stream));
	while (stream_take(&self->stream, &record, NULL, 0) == 1) {
		if (record.event_id != POSIXTRACE_ID_UNNAMED)
			continue;
		taken++;
		bytes += record.size;
	}
	EXPECT_LT(64 << 10, bytes);
	EXPECT_GT(1500, taken);
	EXPECT_EQ(1500, taken + lost_of(&self->stream));
}

TEST_F(policy, overrun_is_reported_once)
{
	ASSERT_LT(0, write_until_overrun(&self->stream, &self->writer));
	EXPECT_EQ(0, flags_of(&self->stream) & POSIXTRACE_STATUS_OVERRUN);
}

TEST_F(policy, no_event_is_lost_while_the_reader_keeps_up)
{
	struct record record;
	struct payload payload;
	int expected = 0;

	for (int i = 0; i < 1500; i++) {
		ASSERT_EQ(0, write_one(&self->writer, i));
		if (i % 50)
			continue;
		while (stream_take(&self->stream, &record, &payload, sizeof(payload)) == 1) {
			if (record.event_id != POSIXTRACE_ID_UNNAMED)
				continue;
			ASSERT_EQ(expected, payload.number);
			expected++;
		}
	}
	EXPECT_EQ(0, lost_of(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
}

/* ------------------------------------------------------------------ */
/* LOOP									*/

FIXTURE(loop)
{
	struct stream stream;
	struct target target;
	struct writer writer;
};

FIXTURE_SETUP(loop)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, writer_open(&self->writer, &self->target, self->stream.arg.slot, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
}

FIXTURE_TEARDOWN(loop)
{
	writer_close(&self->writer);
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(loop, keeps_the_most_recent_without_gaps)
{
	struct record record;
	struct payload payload;
	int expected = -1;

	for (int i = 0; i < 1000; i++)
		ASSERT_EQ(0, write_one(&self->writer, i));
	while (stream_take(&self->stream, &record, &payload, sizeof(payload)) == 1) {
		if (record.event_id != POSIXTRACE_ID_UNNAMED)
			continue;
		if (expected >= 0)
			ASSERT_EQ(expected, payload.number);
		expected = payload.number + 1;
	}
	EXPECT_EQ(1000, expected);
}

TEST_F(loop, keeps_running)
{
	int overrun = write_until_overrun(&self->stream, &self->writer);

	ASSERT_LT(0, overrun);
	EXPECT_EQ(0, write_one(&self->writer, overrun));
	EXPECT_NE(0, flags_of(&self->stream) & POSIXTRACE_STATUS_RUNNING);
}

TEST_F(loop, gap_and_watermark_enclose_the_lost_events)
{
	const struct posixtrace_ctrl *ctrl = self->stream.ctrl;
	unsigned long long before, after;

	EXPECT_EQ(ctrl->gap_generation, self->stream.reader->gap_ack);
	before = now();
	ASSERT_LT(0, write_until_overrun(&self->stream, &self->writer));
	after = now();
	EXPECT_EQ(0, LOAD(ctrl->gap_lock) % 2);
	EXPECT_NE(LOAD(ctrl->gap_generation), self->stream.reader->gap_ack);
	EXPECT_LE(before, LOAD(ctrl->gap_first));
	EXPECT_LE(LOAD(ctrl->gap_first), LOAD(ctrl->overwrite_watermark));
	EXPECT_GE(after, LOAD(ctrl->overwrite_watermark));
}

/*
 * The gap begins at the time of the first lost record. Only the first record of a sub-buffer
 * contains its full time. For a later record, the kernel computes the time from the time that the
 * reader has stored. In the last round, the reader has stored a later time, as if it had been about
 * to take more records.
 */
TEST_F(loop, gap_begins_with_the_first_lost_record)
{
	const struct posixtrace_ctrl *ctrl = self->stream.ctrl;
	struct record record;
	unsigned int i;

	ASSERT_EQ(0, write_one(&self->writer, 0));
	for (int n = 0; n < 3; n++) {
		i = stream_oldest(&self->stream, self->writer.cpu);
		ASSERT_NE(NULL, stream_next(&self->stream, i, &record));
		EXPECT_EQ(n == 0, record.writers);
		if (n == 2)
			__atomic_store_n(&self->stream.reader->consumed[i].time,
					 record.timestamp + POSIXTRACE_WRITER_SPAN - 1,
					 __ATOMIC_RELAXED);
		ASSERT_LT(0, write_until_overrun(&self->stream, &self->writer));
		EXPECT_EQ(record.timestamp, LOAD(ctrl->gap_first));
		__atomic_store_n(&self->stream.reader->gap_ack, LOAD(ctrl->gap_generation),
				 __ATOMIC_SEQ_CST);
		do {
			ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		} while (record.event_id != POSIXTRACE_ID_UNNAMED);
	}
}

TEST_F(loop, gap_grows_until_it_is_acknowledged)
{
	const struct posixtrace_ctrl *ctrl = self->stream.ctrl;
	unsigned long long generation, first, watermark;

	ASSERT_LT(0, write_until_overrun(&self->stream, &self->writer));
	generation = LOAD(ctrl->gap_generation);
	first = LOAD(ctrl->gap_first);
	watermark = LOAD(ctrl->overwrite_watermark);
	ASSERT_LT(0, write_until_overrun(&self->stream, &self->writer));
	EXPECT_EQ(generation, LOAD(ctrl->gap_generation));
	EXPECT_EQ(first, LOAD(ctrl->gap_first));
	EXPECT_LT(watermark, LOAD(ctrl->overwrite_watermark));

	watermark = LOAD(ctrl->overwrite_watermark);
	__atomic_store_n(&self->stream.reader->gap_ack, generation, __ATOMIC_SEQ_CST);
	ASSERT_LT(0, write_until_overrun(&self->stream, &self->writer));
	EXPECT_LT(generation, LOAD(ctrl->gap_generation));
	EXPECT_LT(watermark, LOAD(ctrl->gap_first));
}

TEST_F(loop, read_events_are_not_lost)
{
	struct record record;
	int overrun = write_until_overrun(&self->stream, &self->writer);

	ASSERT_LT(0, overrun);
	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		;
	/* All events were read, so there is space for half as many. */
	for (int i = 0; i < overrun / 2; i++)
		ASSERT_EQ(0, write_one(&self->writer, i));
	EXPECT_EQ(0, flags_of(&self->stream) & POSIXTRACE_STATUS_OVERRUN);
}

/* A record that was read must not be counted as lost when its sub-buffer is recycled. */
TEST_F(loop, consumed_records_are_counted_one_by_one)
{
	struct record record;
	int read = 0, taken = 0;

	for (int i = 0; i < 100; i++)
		ASSERT_EQ(0, write_one(&self->writer, i));
	while (read < 5) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		read += record.event_id == POSIXTRACE_ID_UNNAMED;
	}
	for (int i = 100; i < 1000; i++)
		ASSERT_EQ(0, write_one(&self->writer, i));
	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		taken += record.event_id == POSIXTRACE_ID_UNNAMED;
	EXPECT_EQ(1000, read + taken + lost_of(&self->stream));
}

/* ------------------------------------------------------------------ */
/* UNTIL_FULL								*/

FIXTURE(until_full)
{
	struct stream stream;
	struct target target;
	struct writer writer;
	int written;		/* events before the first lost one */
};

FIXTURE_SETUP(until_full)
{
	ASSERT_EQ(0, target_open(&self->target));
	create_init(&self->stream.arg, 0);
	self->stream.arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	ASSERT_EQ(0, stream_open(&self->stream));
	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, writer_open(&self->writer, &self->target, self->stream.arg.slot, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	while (!(flags_of(&self->stream) & POSIXTRACE_STATUS_FULL)) {
		ASSERT_GT(10000, self->written);
		write_one(&self->writer, self->written++);
	}
	self->written--;
}

FIXTURE_TEARDOWN(until_full)
{
	writer_close(&self->writer);
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(until_full, suspends_automatically)
{
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&self->stream));
}

TEST_F(until_full, writers_see_it_in_their_head)
{
	EXPECT_EQ(POSIXTRACE_LIMIT_FULL, LOAD(self->writer.head->limit));
	EXPECT_EQ(-ENOSPC, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
	EXPECT_EQ(-ENOSPC, writer_next(&self->writer, 48));
}

TEST_F(until_full, ends_with_an_automatic_stop)
{
	struct record record;
	struct payload payload;
	int automatic = 0;

	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	for (int i = 0; i < self->written; i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, &payload, sizeof(payload)));
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
		ASSERT_EQ(i, payload.number);
	}
	ASSERT_EQ(1, stream_take(&self->stream, &record, &automatic, sizeof(automatic)));
	EXPECT_EQ(POSIXTRACE_ID_STOP, record.event_id);
	EXPECT_NE(0, automatic);
}

TEST_F(until_full, start_and_stop_do_nothing_while_full)
{
	struct record record;
	int system = 0;

	EXPECT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&self->stream) & ~POSIXTRACE_STATUS_OVERRUN);
	EXPECT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&self->stream));
	for (int i = 0; i < self->written + 2; i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		system += record.event_id < POSIXTRACE_ID_UNNAMED;
	}
	/* The first START, and the automatic STOP. */
	EXPECT_EQ(2, system);
}

TEST_F(until_full, every_event_is_counted_as_lost)
{
	unsigned long long lost = lost_of(&self->stream);

	for (int i = 0; i < 20; i++)
		EXPECT_EQ(i % 2 ? -ENOSPC : 0, write_one(&self->writer, i));
	EXPECT_EQ(lost + 20, lost_of(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&self->stream));
	EXPECT_EQ(-ENOSPC, write_one(&self->writer, 1));
	EXPECT_EQ(POSIXTRACE_STATUS_FULL | POSIXTRACE_STATUS_OVERRUN, flags_of(&self->stream));
}

TEST_F(until_full, release_of_none_is_busy_before_all_events_are_read)
{
	struct record record;

	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, POSIXTRACE_NONE));
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&self->stream));
}

TEST_F(until_full, starts_again_once_read_empty)
{
	struct record record;
	struct payload payload;

	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		;
	stream_release(&self->stream, POSIXTRACE_NONE);
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	EXPECT_EQ(0, LOAD(self->writer.head->limit));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	ASSERT_EQ(0, write_one(&self->writer, 4711));
	ASSERT_EQ(1, stream_take(&self->stream, &record, &payload, sizeof(payload)));
	EXPECT_EQ(4711, payload.number);
}

/*
 * Acts as a reader that has taken all records (START, the events, STOP) before it notices that the
 * stream is full, and that therefore does not call RELEASE.
 */
static int take_all_before_full(struct stream *stream, int written)
{
	struct record record;

	for (int i = 0; i < written + 2; i++) {
		if (stream_take(stream, &record, NULL, 0) != 1)
			return -ENODATA;
	}
	return record.event_id == POSIXTRACE_ID_STOP ? 0 : -EPROTO;
}

TEST_F(until_full, starts_again_when_its_reader_waits)
{
	struct posixtrace_wait wait = {
		.flags = POSIXTRACE_WAIT_DEADLINE,
		.deadline = now() + 10 * NSEC,
	};
	struct record record;

	ASSERT_EQ(0, take_all_before_full(&self->stream, self->written));
	ASSERT_EQ(POSIXTRACE_STATUS_FULL,
		  flags_of(&self->stream) & ~POSIXTRACE_STATUS_OVERRUN);
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_WAIT, &wait));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	EXPECT_EQ(0, write_one(&self->writer, 0));
}

TEST_F(until_full, starts_again_when_its_reader_polls)
{
	struct pollfd pollfd = { .fd = self->stream.fd, .events = POLLIN };
	struct record record;

	ASSERT_EQ(0, take_all_before_full(&self->stream, self->written));
	EXPECT_EQ(1, poll(&pollfd, 1, 10000));
	EXPECT_EQ(POLLIN, pollfd.revents);
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
}

TEST_F(until_full, does_not_start_again_with_unread_events)
{
	struct posixtrace_wait wait = { .flags = 0 };
	struct record record;

	for (int i = 0; i < self->written + 1; i++)
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	/* STOP is still unread. */
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_WAIT, &wait));
	EXPECT_EQ(POSIXTRACE_STATUS_FULL,
		  flags_of(&self->stream) & ~POSIXTRACE_STATUS_OVERRUN);
}

TEST_F(until_full, fills_up_again_each_time_it_was_emptied)
{
	struct record record;
	unsigned long long lost = lost_of(&self->stream);
	int taken = 0, written = self->written;

	for (int round = 0; round < 4; round++) {
		while (stream_take(&self->stream, &record, NULL, 0) == 1)
			taken += record.event_id == POSIXTRACE_ID_UNNAMED;
		stream_release(&self->stream, POSIXTRACE_NONE);
		ASSERT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
		for (int i = 0; i < self->written + 10; i++)
			write_one(&self->writer, i);
		written += self->written + 10;
		ASSERT_NE(0, flags_of(&self->stream) & POSIXTRACE_STATUS_FULL);
	}
	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		taken += record.event_id == POSIXTRACE_ID_UNNAMED;
	EXPECT_EQ(written, taken + (int)(lost_of(&self->stream) - lost));
}

/* Starts and stops a stream until there is no space for another START. */
TEST(until_full_without_space_for_start)
{
	struct posixtrace_status status;
	struct record record;
	struct stream stream;
	struct target target;
	int i, last = 0;

	ASSERT_EQ(0, target_open(&target));
	create_init(&stream.arg, 0);
	stream.arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	ASSERT_EQ(0, stream_open(&stream));
	for (i = 0; i < 10000; i++) {
		ASSERT_EQ(0, stream_start(&stream));
		if (flags_of(&stream) != POSIXTRACE_STATUS_RUNNING)
			break;
		ASSERT_EQ(0, stream_stop(&stream));
	}
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&stream));
	ASSERT_EQ(0, stream_status(&stream, &status));
	ASSERT_EQ(0, status.lost);

	/* The stream has not started, so later events are lost and counted. */
	for (int n = 0; n < 5; n++)
		ASSERT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, &n, sizeof(n)));
	ASSERT_EQ(0, stream_status(&stream, &status));
	EXPECT_EQ(5, status.lost);
	EXPECT_EQ(POSIXTRACE_STATUS_FULL | POSIXTRACE_STATUS_OVERRUN, status.flags);
	EXPECT_NE(LOAD(stream.ctrl->gap_generation), stream.reader->gap_ack);

	/* The stream has as many STOPs as STARTs, and starts again once they are read. */
	while (stream_take(&stream, &record, NULL, 0) == 1) {
		last = record.event_id;
		i -= last == POSIXTRACE_ID_STOP;
	}
	EXPECT_EQ(0, i);
	EXPECT_EQ(POSIXTRACE_ID_STOP, last);
	ASSERT_EQ(0, stream_release(&stream, POSIXTRACE_NONE));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&stream));
	ASSERT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
	stream_close(&stream);
	target_close(&target);
}

TEST_HARNESS_MAIN
