// SPDX-License-Identifier: GPL-2.0
/*
 * LOOP logs: rings in which old blocks are overwritten. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>

#include "pxt_test.h"
#include "log_reading.h"

#define RING	(8 << 10)

static unsigned int random_state = 1;

static unsigned int random_below(unsigned int n)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 16) % n;
}

/* A ring of blocks with very different sizes. There is one event per nanosecond. */
struct ring {
	struct log_writer log;
	__u64 time;		/* time of the next event */
	__u64 first[4096];	/* time of the first event of each block, by block number */
};

static void ring_begin(struct ring *ring)
{
	memset(ring, 0, sizeof(*ring));
	log_begin(&ring->log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 2, RING);
	ring->time = 1;
}

static void ring_add_events(struct ring *ring, unsigned int count)
{
	log_block_begin(&ring->log, POSIXTRACE_LOG_EVENTS, ring->log.seq % 2);
	ring->first[ring->log.seq] = ring->time;
	while (count--)
		log_event(&ring->log, ring->time++);
	log_block_end(&ring->log);
	log_end(&ring->log, 0);
	ring->log.epoch++;
}

static void ring_add(struct ring *ring)
{
	ring_add_events(ring, 1 + random_below(30));
}

/* Returns the number of the oldest block, according to the newest block. */
static __u64 ring_oldest(const struct ring *ring)
{
	struct posixtrace_log_block block;

	memcpy(&block, ring->log.data + ring->log.block.tail, sizeof(block));
	return block.seq;
}

/* Checks the ring after each block. */
TEST(every_length)
{
	static struct ring ring;
	struct log_sum sum;
	__u64 first;

	ring_begin(&ring);
	log_sum_log(&ring.log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(0, sum.events);
	for (int i = 0; i < 600; i++) {
		ring_add(&ring);
		log_sum_log(&ring.log, &sum);
		first = ring.first[ring_oldest(&ring)];
		ASSERT_EQ(0, sum.err);
		ASSERT_EQ(0, sum.errors);
		ASSERT_EQ(0, sum.disorder);
		ASSERT_EQ(0, sum.wrong);
		ASSERT_EQ(first, sum.first);
		ASSERT_EQ(ring.time - first, sum.events);
		ASSERT_EQ(ring.time - 1, sum.last);
		/* The size of the ring must be within its limit, and most of it must be in use. */
		ASSERT_GE(ring.log.header.data_offset + RING, ring.log.len);
		if (i > 50)
			ASSERT_LT(50, sum.events);
		ASSERT_EQ(ring.log.end.overwritten ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL,
			  sum.status.posix_log_full_status);
	}
	log_free(&ring.log);
}

/* Returns the offset of the block with this number, or 0. */
static size_t find_block(const struct ring *ring, __u64 seq, struct posixtrace_log_block *block)
{
	size_t at;

	for (at = ring->log.header.data_offset; at + LOG_BLOCK <= ring->log.len; at += 8) {
		memcpy(block, ring->log.data + at, sizeof(*block));
		if (block->magic == POSIXTRACE_LOG_BLOCK_MAGIC && block->seq == seq)
			return at;
	}
	return 0;
}

/* A damaged header at any position of the ring must cost only its own block. */
TEST(damaged_header)
{
	static struct ring ring;
	struct posixtrace_log_block block;
	struct log_sum whole, sum;
	__u64 seq;
	size_t at;

	ring_begin(&ring);
	for (int i = 0; i < 120; i++) {
		ring_add(&ring);
		log_sum_log(&ring.log, &whole);
		for (seq = ring_oldest(&ring); seq <= ring.log.seq; seq++) {
			at = find_block(&ring, seq, &block);
			ASSERT_NE(0, at);
			ring.log.data[at + random_below(LOG_BLOCK)] ^= 1 << random_below(8);
			log_sum_log(&ring.log, &sum);
			memcpy(ring.log.data + at, &block, sizeof(block));
			ASSERT_EQ(0, sum.err);
			ASSERT_EQ(0, sum.disorder);
			ASSERT_EQ(0, sum.wrong);
			/*
			 * Without its newest block, the ring looks as it did before that block was
			 * written.
			 */
			if (seq == ring.log.seq) {
				ASSERT_LE(whole.events - block.count, sum.events);
				continue;
			}
			ASSERT_EQ(whole.events - block.count, sum.events);
			ASSERT_EQ(1, sum.errors);
			ASSERT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
		}
	}
	log_free(&ring.log);
}

TEST(damaged_payload)
{
	static struct ring ring;
	struct posixtrace_log_block block;
	struct log_sum whole, sum;
	unsigned char bit;
	__u64 seq;
	size_t at;

	ring_begin(&ring);
	for (int i = 0; i < 100; i++)
		ring_add(&ring);
	log_end(&ring.log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&ring.log, &whole);
	for (seq = ring_oldest(&ring); seq <= ring.log.seq; seq++) {
		at = find_block(&ring, seq, &block) + LOG_BLOCK;
		at += random_below(block.size);
		bit = 1 << random_below(8);
		ring.log.data[at] ^= bit;
		log_sum_log(&ring.log, &sum);
		ring.log.data[at] ^= bit;
		EXPECT_EQ(whole.events - block.count, sum.events);
		EXPECT_EQ(1, sum.errors);
		EXPECT_EQ(0, sum.wrong);
		EXPECT_EQ(0, sum.disorder);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
	}
	log_sum_log(&ring.log, &sum);
	EXPECT_EQ(0, memcmp(&whole, &sum, sizeof(sum)));
	log_free(&ring.log);
}

/*
 * Damages two neighbouring blocks, so that the reader must search further than the longest block.
 */
TEST(two_damaged_headers)
{
	static struct ring ring;
	struct posixtrace_log_block a, b;
	struct log_sum whole, sum;
	size_t at_a, at_b;
	__u64 seq;

	ring_begin(&ring);
	for (int i = 0; i < 77; i++)
		ring_add(&ring);
	log_sum_log(&ring.log, &whole);
	for (seq = ring_oldest(&ring); seq < ring.log.seq; seq++) {
		at_a = find_block(&ring, seq, &a);
		at_b = find_block(&ring, seq + 1, &b);
		ring.log.data[at_a] ^= 1;
		ring.log.data[at_b + LOG_BLOCK - 1] ^= 1;
		log_sum_log(&ring.log, &sum);
		ring.log.data[at_a] ^= 1;
		ring.log.data[at_b + LOG_BLOCK - 1] ^= 1;
		EXPECT_EQ(whole.events - a.count - b.count, sum.events);
		EXPECT_EQ(0, sum.disorder);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	}
	log_free(&ring.log);
}

/* The status and the names have separate areas. */
TEST(damaged_status_and_names)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	static struct ring ring;
	struct log_sum sum;
	trace_id_t trid;
	size_t at;

	ring_begin(&ring);
	log_name(&ring.log, 65, "sixty-five");
	at = log_name(&ring.log, 66, "sixty-six");
	log_name(&ring.log, 67, "sixty-seven");
	ring_add(&ring);
	log_end(&ring.log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&ring.log, &sum);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);

	for (size_t i = 0; i < sizeof(struct posixtrace_log_name); i++) {
		ring.log.data[at + i] ^= 0x10;
		ASSERT_EQ(0, log_open(&ring.log, &trid));
		EXPECT_EQ(0, posix_trace_eventid_get_name(trid, 65, name));
		EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, 66, name));
		EXPECT_EQ(0, posix_trace_eventid_get_name(trid, 67, name));
		log_sum_rest(trid, &sum);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
		EXPECT_EQ(0, posix_trace_close(trid));
		ring.log.data[at + i] ^= 0x10;
	}
	for (size_t i = 0; i < sizeof(struct posixtrace_log_end); i++) {
		ring.log.data[ring.log.header.end_offset + i] ^= 0x10;
		log_sum_log(&ring.log, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(0, sum.errors);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
		ring.log.data[ring.log.header.end_offset + i] ^= 0x10;
	}
	log_free(&ring.log);
}

/* CLEAR writes the header first, so an old status does not count as damage. */
TEST(status_of_another_log)
{
	struct posixtrace_log_info info;
	static struct ring ring;
	trace_id_t trid;
	int fd;

	ring_begin(&ring);
	ring_add(&ring);
	ring.log.header.cookie++;
	log_header(&ring.log);
	ASSERT_EQ(0, log_open(&ring.log, &trid));
	ASSERT_EQ(0, posixtrace_get_log_info(trid, &info));
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(0, posix_trace_close(trid));

	/* A reader has the previous log open. */
	log_free(&ring.log);
	ring_begin(&ring);
	ring_add(&ring);
	fd = log_file(&ring.log);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	ring.log.header.cookie++;
	log_header(&ring.log);
	log_end(&ring.log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_write(&ring.log, fd, 0));
	ASSERT_EQ(0, posixtrace_get_log_info(trid, &info));
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&ring.log);
}

/* ------------------------------------------------------------------ */
/* Read while it is written						*/

TEST(follow)
{
	static struct ring ring;
	struct event event;
	trace_id_t trid;
	__u64 time = 1;
	int fd, ret;

	ring_begin(&ring);
	fd = log_file(&ring.log);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	for (int i = 0; i < 500; i++) {
		EXPECT_EQ(0, log_take(trid, &event));
		ring_add(&ring);
		ASSERT_EQ(0, log_write(&ring.log, fd, 0));
		while ((ret = log_take(trid, &event)) == 1) {
			ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
			ASSERT_EQ(time++, log_time(&event));
		}
		ASSERT_EQ(0, ret);
		ASSERT_EQ(time, ring.time);
	}
	/* A rewind goes to the oldest block that is now there. */
	ASSERT_EQ(0, posix_trace_rewind(trid));
	ASSERT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(ring.first[ring_oldest(&ring)], log_time(&event));
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&ring.log);
}

/* A reader that is too slow continues with the oldest block. */
TEST(overtaken)
{
	static struct ring ring;
	struct log_sum sum;
	struct event event;
	trace_id_t trid;
	__u64 last = 0;
	int fd, ret;

	ring_begin(&ring);
	ring_add(&ring);
	fd = log_file(&ring.log);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	for (int round = 0; round < 20; round++) {
		while ((ret = log_take(trid, &event)) == 1) {
			if (event.info.posix_event_id == POSIX_TRACE_ERROR)
				continue;
			ASSERT_LT(last, log_time(&event));
			last = log_time(&event);
		}
		ASSERT_EQ(0, ret);
		ASSERT_EQ(ring.time - 1, last);
		for (int i = 0; i < 40 + round; i++)
			ring_add(&ring);
		ASSERT_EQ(0, log_write(&ring.log, fd, 0));
	}
	log_sum_rest(trid, &sum);
	EXPECT_EQ(ring.first[ring_oldest(&ring)], sum.first);
	EXPECT_EQ(ring.time - 1, sum.last);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&ring.log);
}

/* ------------------------------------------------------------------ */
/* Overtaken in the middle of a lap					*/

FIXTURE(lap)
{
	struct ring ring;
	struct log_sum sum;
	struct posixtrace_log_info info;
	struct event event;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(lap)
{
	ring_begin(&self->ring);
	for (int i = 0; i < 60; i++)
		ring_add(&self->ring);
	self->fd = log_file(&self->ring.log);
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
}

FIXTURE_TEARDOWN(lap)
{
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(self->fd);
	log_free(&self->ring.log);
}

/*
 * Takes events as long as their times are consecutive. Returns the first event after a jump, or 0.
 */
static __u64 take_until_jump(trace_id_t trid, __u64 last)
{
	struct event event;

	while (log_take(trid, &event) == 1) {
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT ||
		    log_time(&event) != ++last)
			return log_time(&event);
	}
	return 0;
}

/*
 * The writer overwrites the blocks that the reader would read next. The current block is in the
 * reader's memory.
 */
TEST_F(lap, reader_that_is_overtaken_continues_with_the_oldest_block)
{
	ASSERT_EQ(1, log_take(self->trid, &self->event));
	for (int i = 0; i < 60; i++)
		ring_add(&self->ring);
	ASSERT_EQ(0, log_write(&self->ring.log, self->fd, 0));
	EXPECT_EQ(self->ring.first[ring_oldest(&self->ring)],
		  take_until_jump(self->trid, log_time(&self->event)));
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(self->ring.time - 1, self->sum.last);
	EXPECT_EQ(self->ring.time - self->sum.first, self->sum.events);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(0, self->info.flags & POSIXTRACE_LOG_DAMAGED);
}

/* Blocks of the same size are at the same offsets in each lap. */
TEST_F(lap, reader_that_is_overtaken_where_blocks_have_the_same_places)
{
	log_free(&self->ring.log);
	EXPECT_EQ(0, posix_trace_close(self->trid));
	ASSERT_EQ(0, ftruncate(self->fd, 0));
	ring_begin(&self->ring);
	for (int i = 0; i < 25; i++)
		ring_add_events(&self->ring, 20);
	ASSERT_EQ(0, log_write(&self->ring.log, self->fd, 0));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
	ASSERT_EQ(1, log_take(self->trid, &self->event));
	for (int i = 0; i < 40; i++)
		ring_add_events(&self->ring, 20);
	ASSERT_EQ(0, log_write(&self->ring.log, self->fd, 0));
	EXPECT_EQ(self->ring.first[ring_oldest(&self->ring)],
		  take_until_jump(self->trid, log_time(&self->event)));
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(self->ring.time - 1, self->sum.last);
	EXPECT_EQ(0, self->sum.errors);
}

TEST_F(lap, reader_that_is_overtaken_anywhere_reaches_the_newest_event)
{
	__u64 last = 0;

	while (self->ring.log.seq < 4000) {
		for (unsigned int n = random_below(200); n; n--) {
			if (log_take(self->trid, &self->event) != 1)
				break;
			ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
			ASSERT_LT(last, log_time(&self->event));
			last = log_time(&self->event);
		}
		for (unsigned int n = random_below(random_below(2) ? 5 : 60); n; n--)
			ring_add(&self->ring);
		ASSERT_EQ(0, log_write(&self->ring.log, self->fd, 0));
	}
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(0, self->sum.err);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_EQ(0, self->sum.disorder);
	EXPECT_EQ(0, self->sum.wrong);
	EXPECT_EQ(self->ring.time - 1, self->sum.last);
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(0, self->info.flags & POSIXTRACE_LOG_DAMAGED);
}

/* A damaged block that is not overwritten yet must be reported, although the writer continues. */
TEST_F(lap, damage_is_reported_while_the_writer_continues)
{
	struct posixtrace_log_block block;
	__u64 seq = self->ring.log.seq - 3;
	size_t at = find_block(&self->ring, seq, &block);

	ASSERT_EQ(1, log_take(self->trid, &self->event));
	ASSERT_NE(0, at);
	self->ring.log.data[at] ^= 1;
	ring_add_events(&self->ring, 1);
	ASSERT_EQ(0, log_write(&self->ring.log, self->fd, 0));
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(1, self->sum.errors);
	EXPECT_EQ(self->ring.time - 1, self->sum.last);
	EXPECT_EQ(self->ring.time - 1 - log_time(&self->event) - block.count, self->sum.events);
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_NE(0, self->info.flags & POSIXTRACE_LOG_DAMAGED);
}

TEST_HARNESS_MAIN
