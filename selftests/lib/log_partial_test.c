// SPDX-License-Identifier: GPL-2.0
/*
 * Logs that are read in the middle of a write. The kernel writes a block page by page, in ascending
 * order, over the old contents. A reader may be in the middle of the old block. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>
#include <pthread.h>

#include "pxt_test.h"
#include "log_reading.h"

#define RING	((size_t)8 << 10)
#define COUNT	20	/* events of a block */
#define HALF	(LOG_BLOCK + 200)
#define TEXT	"{ u32 id; text key; }"

FIXTURE(partial)
{
	struct log_writer log;
	struct log_sum sum;
	struct event event;
	trace_id_t trid;
	__u64 time;	/* time of the next event */
	size_t at, size;	/* offset and size of the last block */
	int fd;
};

/* Makes a block of events of a CPU. write_part() writes it to the file. */
static void add_events(struct _test_data_partial *self, __u32 cpu, int count)
{
	log_block_begin(&self->log, POSIXTRACE_LOG_EVENTS, cpu);
	while (count--)
		log_event(&self->log, self->time++);
	self->at = log_block_end(&self->log);
	self->size = LOG_BLOCK + self->log.block.size;
}

static void add_block(struct _test_data_partial *self, __u32 cpu)
{
	add_events(self, cpu, COUNT);
}

/* Writes the bytes of the last block from @from up to @to. */
static void write_part(const struct _test_data_partial *self, size_t from, size_t to)
{
	if (pwrite(self->fd, self->log.data + self->at + from, to - from, self->at + from) !=
	    (ssize_t)(to - from))
		abort();
}

/* The writer shuts down. */
static void write_end(struct _test_data_partial *self, __u32 flags)
{
	size_t at = log_end(&self->log, flags), size = sizeof(self->log.end);

	if (pwrite(self->fd, self->log.data + at, size, at) != (ssize_t)size)
		abort();
}

static bool is_damaged(trace_id_t trid)
{
	struct posixtrace_log_info info;

	return posixtrace_get_log_info(trid, &info) || info.flags & POSIXTRACE_LOG_DAMAGED;
}

/* The ring is in its third lap, so the writer always overwrites an old block. */
FIXTURE_SETUP(partial)
{
	log_begin(&self->log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 2, RING);
	log_name(&self->log, LOG_FIRST_NAMED, "first");
	self->time = 1;
	for (int i = 0; i < 25; i++) {
		add_block(self, 0);
		self->log.epoch++;
	}
	log_end(&self->log, 0);
	self->fd = log_file(&self->log);
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
}

FIXTURE_TEARDOWN(partial)
{
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(self->fd);
	log_free(&self->log);
}

TEST_F(partial, half_of_a_block_is_no_event_and_no_damage)
{
	log_sum_rest(self->trid, &self->sum);
	for (int i = 0; i < 25; i++) {
		add_block(self, i % 2);
		write_part(self, 0, HALF);
		for (int k = 0; k < 3; k++)
			EXPECT_EQ(0, log_take(self->trid, &self->event));
		EXPECT_FALSE(is_damaged(self->trid));
		write_part(self, HALF, self->size);
		log_sum_rest(self->trid, &self->sum);
		EXPECT_EQ(COUNT, self->sum.events);
		EXPECT_EQ(0, self->sum.errors);
		EXPECT_EQ(0, self->sum.wrong);
	}
	EXPECT_FALSE(is_damaged(self->trid));
}

/* Older events, and newer events of other CPUs, are returned although the block is incomplete. */
TEST_F(partial, half_of_a_block_does_not_hold_others_back)
{
	struct log_sum before;

	log_sum_rest(self->trid, &before);
	self->time += COUNT;
	add_block(self, 1);
	write_part(self, 0, self->size);
	self->time -= 2 * COUNT;
	add_block(self, 0);
	write_part(self, 0, HALF);
	EXPECT_EQ(0, posix_trace_rewind(self->trid));
	log_sum_rest(self->trid, &self->sum);
	EXPECT_LT(COUNT, self->sum.events);
	EXPECT_EQ(before.last + 2 * COUNT, self->sum.last);
	EXPECT_EQ(0, self->sum.errors);
	write_part(self, HALF, self->size);
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(COUNT, self->sum.events);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_FALSE(is_damaged(self->trid));
}

TEST_F(partial, half_of_a_block_counts_once_as_read)
{
	struct posixtrace_log_info before, after;

	log_sum_rest(self->trid, &self->sum);
	ASSERT_EQ(0, posixtrace_get_log_info(self->trid, &before));
	add_block(self, 0);
	write_part(self, 0, HALF);
	for (int k = 0; k < 3; k++)
		EXPECT_EQ(0, log_take(self->trid, &self->event));
	write_part(self, HALF, self->size);
	log_sum_rest(self->trid, &self->sum);
	ASSERT_EQ(0, posixtrace_get_log_info(self->trid, &after));
	EXPECT_EQ(before.read + self->size, after.read);
}

/*
 * The writer completes each block before it begins the next one and before it ends the log.
 * Otherwise the block is damaged.
 */
TEST_F(partial, half_of_a_block_before_another_one_is_damage)
{
	log_sum_rest(self->trid, &self->sum);
	add_block(self, 0);
	write_part(self, 0, HALF);
	EXPECT_EQ(0, log_take(self->trid, &self->event));
	add_block(self, 0);
	write_part(self, 0, self->size);
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(1, self->sum.errors);
	EXPECT_EQ(COUNT, self->sum.events);
	EXPECT_EQ(self->time - 1, self->sum.last);
	EXPECT_TRUE(is_damaged(self->trid));
}

TEST_F(partial, half_of_a_block_in_a_log_that_has_ended_is_damage)
{
	log_sum_rest(self->trid, &self->sum);
	add_block(self, 0);
	write_part(self, 0, HALF);
	EXPECT_EQ(0, log_take(self->trid, &self->event));
	write_end(self, POSIXTRACE_LOG_END_FINAL);
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(1, self->sum.errors);
	EXPECT_EQ(0, self->sum.events);
	EXPECT_TRUE(is_damaged(self->trid));
}

/*
 * If a write fails, the writer discards the half-written block, and later writes different events
 * there.
 */
TEST_F(partial, half_of_a_block_that_is_taken_away)
{
	static const __u32 no_magic;

	log_sum_rest(self->trid, &self->sum);
	add_block(self, 0);
	write_part(self, 0, HALF);
	EXPECT_EQ(0, log_take(self->trid, &self->event));
	ASSERT_EQ((ssize_t)sizeof(no_magic), pwrite(self->fd, &no_magic, sizeof(no_magic),
						    self->at));
	EXPECT_EQ(0, log_take(self->trid, &self->event));
	write_part(self, 0, self->size);
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(COUNT, self->sum.events);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_FALSE(is_damaged(self->trid));
}

/*
 * The writer has overtaken the reader. The reader continues with the oldest block, which the writer
 * overwrites next.
 */
TEST_F(partial, reader_that_is_overtaken_does_not_take_half_of_a_header_for_damage)
{
	__u64 last;

	ASSERT_EQ(1, log_take(self->trid, &self->event));
	for (int i = 0; i < 40; i++) {
		add_block(self, 0);
		write_part(self, 0, self->size);
		self->log.epoch++;
	}
	last = self->time - 1;
	add_block(self, 0);
	write_part(self, 0, LOG_BLOCK / 2);
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(last, self->sum.last);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_FALSE(is_damaged(self->trid));
	write_part(self, LOG_BLOCK / 2, self->size);
	log_sum_rest(self->trid, &self->sum);
	EXPECT_EQ(COUNT, self->sum.events);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_FALSE(is_damaged(self->trid));
}

/* ------------------------------------------------------------------ */
/* By another thread							*/

#define BLOCKS	20000
#define PIECE	((size_t)300)	/* bytes per write */

static int written;	/* everything is written */

/* Runs in the writing thread. Reader and writer are always at different positions of the ring. */
static void *write_blocks(void *arg)
{
	struct _test_data_partial *self = arg;

	for (int i = 0; i < BLOCKS; i++) {
		/* In some laps, all blocks have the same size. */
		add_events(self, i % 2, i / 100 % 2 ? COUNT : 1 + i % 29);
		self->log.epoch++;
		for (size_t at = 0; at < self->size; at += PIECE)
			write_part(self, at, at + PIECE < self->size ? at + PIECE : self->size);
		write_end(self, i + 1 == BLOCKS ? POSIXTRACE_LOG_END_FINAL : 0);
	}
	__atomic_store_n(&written, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(partial, reader_of_a_ring_that_another_thread_writes_sees_no_damage)
{
	pthread_t thread;
	__u64 last = 0;
	int done, ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, write_blocks, self));
	do {
		done = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
		while ((ret = log_take(self->trid, &self->event)) == 1) {
			ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
			ASSERT_LT(last, log_time(&self->event));
			last = log_time(&self->event);
		}
		ASSERT_EQ(0, ret);
		ASSERT_FALSE(is_damaged(self->trid));
	} while (!done);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(self->time - 1, last);
}

/* ------------------------------------------------------------------ */
/* Names and metadata						*/

static bool has_name(trace_id_t trid, trace_event_id_t event, const char *wanted)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	return !posix_trace_eventid_get_name(trid, event, name) && !strcmp(name, wanted);
}

static void add_name(struct _test_data_partial *self, __u32 id, const char *name)
{
	self->at = log_name(&self->log, id, name);
	self->size = sizeof(struct posixtrace_log_name);
}

TEST_F(partial, half_of_a_name_is_no_damage)
{
	add_name(self, LOG_FIRST_NAMED + 1, "a name that is longer than 40 bytes are");
	write_part(self, 0, 40);
	EXPECT_FALSE(has_name(self->trid, LOG_FIRST_NAMED + 1, ""));
	EXPECT_FALSE(is_damaged(self->trid));
	write_part(self, 40, self->size);
	EXPECT_TRUE(has_name(self->trid, LOG_FIRST_NAMED + 1,
			     "a name that is longer than 40 bytes are"));
	EXPECT_FALSE(is_damaged(self->trid));
}

TEST_F(partial, half_of_a_name_before_another_one_is_damage)
{
	add_name(self, LOG_FIRST_NAMED + 1, "a name that is longer than 40 bytes are");
	write_part(self, 0, 40);
	EXPECT_FALSE(has_name(self->trid, LOG_FIRST_NAMED + 1, ""));
	add_name(self, LOG_FIRST_NAMED + 2, "third");
	write_part(self, 0, self->size);
	EXPECT_TRUE(has_name(self->trid, LOG_FIRST_NAMED + 2, "third"));
	EXPECT_TRUE(is_damaged(self->trid));
}

TEST_F(partial, half_of_a_name_in_a_log_that_has_ended_is_damage)
{
	add_name(self, LOG_FIRST_NAMED + 1, "a name that is longer than 40 bytes are");
	write_part(self, 0, 40);
	write_end(self, POSIXTRACE_LOG_END_FINAL);
	EXPECT_TRUE(is_damaged(self->trid));
}

static int describe(trace_id_t trid, trace_event_id_t event)
{
	return posixtrace_eventid_get_description(trid, event, NULL, 0, NULL);
}

/* Makes a description in the next metadata block; write_part() writes it to the file. */
static void add_description(struct _test_data_partial *self, __u32 id, const char *text)
{
	self->at = log_description(&self->log, id, text, strlen(text) + 1);
	self->size = LOG_BLOCK + self->log.block.size;
}

/* The writer restarts the metadata, which overwrites earlier blocks. */
TEST_F(partial, half_of_a_description_is_no_damage)
{
	for (int i = 0; i < 3; i++) {
		add_description(self, LOG_FIRST_NAMED, TEXT);
		write_part(self, 0, self->size);
	}
	EXPECT_EQ(ERANGE, describe(self->trid, LOG_FIRST_NAMED));
	self->log.metadata_pos = self->log.header.metadata_offset;
	for (int i = 0; i < 2; i++) {
		add_description(self, LOG_FIRST_NAMED, "{ u32 another; u32 one; }");
		write_part(self, 0, LOG_BLOCK + 16);
		EXPECT_FALSE(is_damaged(self->trid));
		EXPECT_EQ(i ? ERANGE : ENOENT, describe(self->trid, LOG_FIRST_NAMED));
		write_part(self, LOG_BLOCK + 16, self->size);
		EXPECT_EQ(ERANGE, describe(self->trid, LOG_FIRST_NAMED));
		EXPECT_FALSE(is_damaged(self->trid));
	}
}

TEST_F(partial, half_of_a_description_before_another_one_is_damage)
{
	add_description(self, LOG_FIRST_NAMED, TEXT);
	write_part(self, 0, LOG_BLOCK + 16);
	ASSERT_EQ(0, ftruncate(self->fd, self->log.len));
	EXPECT_EQ(ENOENT, describe(self->trid, LOG_FIRST_NAMED));
	EXPECT_FALSE(is_damaged(self->trid));
	add_description(self, LOG_FIRST_NAMED + 1, TEXT);
	write_part(self, 0, self->size);
	EXPECT_EQ(ERANGE, describe(self->trid, LOG_FIRST_NAMED + 1));
	EXPECT_TRUE(is_damaged(self->trid));
}

/* A damaged header after the half-written block must not hide the blocks that follow. */
TEST_F(partial, half_of_a_description_before_two_others_is_damage)
{
	add_description(self, LOG_FIRST_NAMED, TEXT);
	write_part(self, 0, LOG_BLOCK + 16);
	add_description(self, LOG_FIRST_NAMED + 1, TEXT);
	write_part(self, 8, self->size);
	add_description(self, LOG_FIRST_NAMED + 2, TEXT);
	write_part(self, 0, self->size);
	EXPECT_EQ(ERANGE, describe(self->trid, LOG_FIRST_NAMED + 2));
	EXPECT_TRUE(is_damaged(self->trid));
}

TEST_F(partial, half_of_a_description_in_a_log_that_has_ended_is_damage)
{
	add_description(self, LOG_FIRST_NAMED, TEXT);
	write_part(self, 0, LOG_BLOCK + 16);
	ASSERT_EQ(0, ftruncate(self->fd, self->log.len));
	write_end(self, POSIXTRACE_LOG_END_FINAL);
	EXPECT_TRUE(is_damaged(self->trid));
}

/* ------------------------------------------------------------------ */
/* Overwritten in the middle						*/

#define CHUNK		((size_t)16 << 10)	/* the part of a block that the reader buffers */
#define LARGE		((size_t)40 << 10)	/* bytes of a block */

FIXTURE(large)
{
	struct log_writer log;
	struct event event;
	trace_id_t trid;
	__u64 time;		/* time of the next event */
	__u64 end;		/* the time after the last event of the first block */
	int fd;
};

FIXTURE_VARIANT(large)
{
	int policy;
	size_t ring;
};

FIXTURE_VARIANT_ADD(large, append) { POSIX_TRACE_APPEND, 0 };
FIXTURE_VARIANT_ADD(large, loop) { POSIX_TRACE_LOOP, LARGE + 1024 };

FIXTURE_SETUP(large)
{
	self->fd = -1;
}

FIXTURE_TEARDOWN(large)
{
	close(self->fd);
}

static void begin(struct _test_data_large *self, const struct _fixture_variant_large *variant,
		  __u64 cookie)
{
	log_begin(&self->log, variant->policy, POSIX_TRACE_FLUSH, 1, variant->ring);
	self->log.header.subbuf_size = 64 << 10;
	self->log.header.cookie = cookie;
	log_header(&self->log);
	self->time = 1;
}

/*
 * Adds a block of events. All bytes of their data are @fill. The events are at the same offsets in
 * each block.
 */
static void add_large(struct _test_data_large *self, unsigned char fill, size_t len)
{
	unsigned char data[LOG_MAX_DATA];

	memset(data, fill, sizeof(data));
	log_block_begin(&self->log, POSIXTRACE_LOG_EVENTS, 0);
	while (self->log.block.size + len + 48 <= LARGE)
		log_event_id(&self->log, POSIXTRACE_ID_UNNAMED, self->time++, data, len);
	log_block_end(&self->log);
	self->log.epoch++;
}

/*
 * Overwrites the block in the ring. If the log is not a ring, clears the file and writes events
 * with the same times.
 */
static void overwrite(struct _test_data_large *self, const struct _fixture_variant_large *variant,
		      size_t len)
{
	if (!variant->ring) {
		log_free(&self->log);
		begin(self, variant, LOG_COOKIE + 1);
	}
	add_large(self, 'b', len);
	if (log_write(&self->log, self->fd, 0))
		abort();
}

/* Takes up to @count events. Returns how many of them belong to the first block. */
static int take_first(struct __test_metadata *_metadata, struct _test_data_large *self, int count)
{
	char wanted[LOG_MAX_DATA];
	int n = 0;

	memset(wanted, 'a', sizeof(wanted));
	while (count-- && log_take(self->trid, &self->event) == 1) {
		if (self->event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT ||
		    log_time(&self->event) >= self->end)
			continue;
		EXPECT_EQ(0, memcmp(wanted, self->event.data, self->event.len));
		n++;
	}
	return n;
}

/*
 * The reader has the first CHUNK bytes of the block in its buffer, and has nearly read all of them.
 */
TEST_F(large, block_that_is_overwritten_has_no_foreign_data)
{
	const size_t lens[] = { LOG_MAX_DATA, 200, 64, 8 };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		int first = CHUNK / (lens[i] + 16) - 5, n;

		for (int k = first; k < first + 10; k++) {
			begin(self, variant, LOG_COOKIE);
			add_large(self, 'a', lens[i]);
			self->end = self->time;
			self->fd = log_file(&self->log);
			ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
			ASSERT_EQ(k, take_first(_metadata, self, k));
			overwrite(self, variant, lens[i]);
			n = k + take_first(_metadata, self, -1);
			EXPECT_LE(first, n);
			EXPECT_GT(self->end - 1, (__u64)n);
			/* The reader of a LOOP log continues with the newest block. */
			if (variant->ring)
				EXPECT_EQ(self->time - 1, log_time(&self->event));
			EXPECT_EQ(0, posix_trace_close(self->trid));
			EXPECT_EQ(0, close(self->fd));
			log_free(&self->log);
		}
	}
	self->fd = -1;
}

TEST_HARNESS_MAIN
