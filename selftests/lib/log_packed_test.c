// SPDX-License-Identifier: GPL-2.0
/*
 * Reading compressed blocks, valid and forged ones. All sizes in the file may be wrong. If a block
 * cannot be decompressed, the reader must report it as damaged, and read the others.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "log_pack.h"
#include "log_reading.h"
#include "pxt_test.h"

#define RECORDS	10	/* number of records in the block that is forged */
#define OTHERS	(2 * RECORDS)

/* A log with one block of events, and the records of the block that a test writes next. */
struct scene {
	struct log_writer log;
	unsigned char records[4096];
	size_t len;
};

static void begin_log(struct log_writer *log)
{
	log_begin(log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 3, 0);
	log_block_begin(log, POSIXTRACE_LOG_EVENTS, 0);
	for (int i = 0; i < RECORDS; i++)
		log_event(log, i);
	log_block_end(log);
}

static void begin_scene(struct scene *scene)
{
	struct log_writer *log = &scene->log;

	log_begin(log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 3, 0);
	log_block_begin(log, POSIXTRACE_LOG_EVENTS, 1);
	for (int i = 0; i < RECORDS; i++)
		log_event(log, 100 + i);
	scene->len = log->block.size;
	memcpy(scene->records, log->data + log->at + LOG_BLOCK, scene->len);
	log_free(log);
	begin_log(log);
}

FIXTURE(packed)
{
	struct scene scene;
};

FIXTURE_SETUP(packed)
{
	begin_scene(&self->scene);
}

FIXTURE_TEARDOWN(packed)
{
	log_free(&self->scene.log);
}

static void begin_block(struct log_writer *log, size_t records_size)
{
	log_block_begin(log, POSIXTRACE_LOG_EVENTS, 1);
	log->block.compression = POSIXTRACE_COMPRESS_LZ4;
	log->block.records_size = records_size;
	log->block.opened = LOG_TIME0 + 100;
	log->block.closed = LOG_TIME0 + 100 + RECORDS;
}

static void put_piece(struct log_writer *log, const struct posixtrace_log_piece *piece,
		      const void *data, size_t len)
{
	static const unsigned char zeros[8];

	log_payload(log, piece, sizeof(*piece));
	log_payload(log, data, len);
	log_payload(log, zeros, -len % 8);
}

/* Ends the block, adds another one and the end, and reads the log. */
static void finish(struct log_writer *log, struct log_sum *sum)
{
	log_block_end(log);
	log->piece = 4096;
	log_block_begin(log, POSIXTRACE_LOG_EVENTS, 0);
	for (int i = 0; i < RECORDS; i++)
		log_event(log, 200 + i);
	log_block_end(log);
	log_end(log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(log, sum);
}

static bool is_damaged_once(const struct log_sum *sum)
{
	return !sum->err && sum->errors == 1 && sum->events == OTHERS && !sum->wrong &&
	       !sum->disorder;
}

TEST_F(packed, pieces_of_any_size_have_all_events)
{
	unsigned char packed[8192];
	struct log_sum sum;

	for (size_t piece = 8; piece <= 1024; piece *= 2) {
		struct log_writer log;

		begin_log(&log);
		begin_block(&log, self->scene.len);
		log_payload(&log, packed,
			    log_pack(packed, POSIXTRACE_LOG_EVENTS, self->scene.records,
				     self->scene.len, piece));
		finish(&log, &sum);
		EXPECT_EQ(0, sum.err + sum.errors + sum.wrong + sum.disorder);
		EXPECT_EQ(OTHERS + RECORDS, sum.events);
		log_free(&log);
	}
}

TEST_F(packed, stored_piece_has_all_events)
{
	const struct posixtrace_log_piece piece = {
		.size = self->scene.len, .records_size = self->scene.len,
	};
	struct log_sum sum;

	begin_block(&self->scene.log, self->scene.len);
	put_piece(&self->scene.log, &piece, self->scene.records, self->scene.len);
	finish(&self->scene.log, &sum);
	EXPECT_EQ(0, sum.err + sum.errors + sum.wrong + sum.disorder);
	EXPECT_EQ(OTHERS + RECORDS, sum.events);
}

TEST_F(packed, record_in_two_pieces_is_damage)
{
	struct posixtrace_log_piece piece = { .size = 40, .records_size = 40 };
	struct log_sum sum;

	begin_block(&self->scene.log, self->scene.len);
	put_piece(&self->scene.log, &piece, self->scene.records, 40);
	piece.size = self->scene.len - 40;
	piece.records_size = piece.size;
	put_piece(&self->scene.log, &piece, self->scene.records + 40, piece.size);
	finish(&self->scene.log, &sum);
	EXPECT_TRUE(is_damaged_once(&sum));
}

/* A log with a wrong value in the header of a piece. */
FIXTURE(forged)
{
	struct scene scene;
};

FIXTURE_VARIANT(forged)
{
	size_t offset;
	__u32 value;
};

FIXTURE_SETUP(forged)
{
	begin_scene(&self->scene);
	(void)variant;
}

FIXTURE_TEARDOWN(forged)
{
	log_free(&self->scene.log);
	(void)variant;
}

#define AT(member)	offsetof(struct posixtrace_log_piece, member)

FIXTURE_VARIANT_ADD(forged, size_zero) { AT(size), 0 };
FIXTURE_VARIANT_ADD(forged, size_one_less) { AT(size), 1 };
FIXTURE_VARIANT_ADD(forged, size_beyond_the_block) { AT(size), 4096 };
FIXTURE_VARIANT_ADD(forged, size_huge) { AT(size), ~0U };
FIXTURE_VARIANT_ADD(forged, records_zero) { AT(records_size), 0 };
FIXTURE_VARIANT_ADD(forged, records_fewer) { AT(records_size), 160 };
FIXTURE_VARIANT_ADD(forged, records_not_aligned) { AT(records_size), 161 };
FIXTURE_VARIANT_ADD(forged, records_beyond_the_block) { AT(records_size), 4096 };
FIXTURE_VARIANT_ADD(forged, records_above_the_limit) {
	AT(records_size), POSIXTRACE_LOG_PIECE_MAX + 8
};

FIXTURE_VARIANT_ADD(forged, heads_too_few) { AT(heads), 1 };
FIXTURE_VARIANT_ADD(forged, heads_too_many) { AT(heads), 4096 };
FIXTURE_VARIANT_ADD(forged, heads_huge) { AT(heads), ~0U };

TEST_F(forged, piece_is_damage)
{
	unsigned char packed[8192];
	struct log_sum sum;
	size_t size;

	begin_block(&self->scene.log, self->scene.len);
	size = log_pack(packed, POSIXTRACE_LOG_EVENTS, self->scene.records, self->scene.len,
			4096);
	memcpy(packed + variant->offset, &variant->value, sizeof(variant->value));
	log_payload(&self->scene.log, packed, size);
	finish(&self->scene.log, &sum);
	EXPECT_TRUE(is_damaged_once(&sum));
}

TEST_F(packed, sizes_of_a_block_above_the_sub_buffer_are_damage)
{
	const struct posixtrace_log_piece piece = {
		.size = self->scene.len, .records_size = self->scene.len,
	};
	struct log_sum sum;

	begin_block(&self->scene.log, LOG_SUBBUF + 8);
	put_piece(&self->scene.log, &piece, self->scene.records, self->scene.len);
	finish(&self->scene.log, &sum);
	EXPECT_TRUE(is_damaged_once(&sum));
}

TEST_F(packed, block_without_its_last_piece_is_damage_after_its_events)
{
	const struct posixtrace_log_piece piece = {
		.size = self->scene.len, .records_size = self->scene.len,
	};
	struct log_sum sum;

	begin_block(&self->scene.log, self->scene.len + 64);
	put_piece(&self->scene.log, &piece, self->scene.records, self->scene.len);
	finish(&self->scene.log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(1, sum.errors);
	EXPECT_EQ(OTHERS + RECORDS, sum.events);
}

TEST_F(packed, compressed_block_of_another_type_is_damage)
{
	struct log_sum sum;

	log_block_begin(&self->scene.log, POSIXTRACE_LOG_NAMES, 0);
	self->scene.log.block.compression = POSIXTRACE_COMPRESS_LZ4;
	finish(&self->scene.log, &sum);
	EXPECT_TRUE(is_damaged_once(&sum));
}

TEST_F(packed, unknown_compression_is_refused)
{
	trace_id_t trid;
	int fd;

	begin_block(&self->scene.log, self->scene.len);
	self->scene.log.block.compression = POSIXTRACE_COMPRESS_LZ4 + 1;
	log_payload(&self->scene.log, self->scene.records, self->scene.len);
	log_block_end(&self->scene.log);
	fd = log_file(&self->scene.log);
	EXPECT_EQ(ENOTSUP, posix_trace_open(fd, &trid));
	close(fd);
}

/* LZ4 sequences that no compressor writes. The records would have 64 bytes. */
static const struct {
	const char *what;
	unsigned char bytes[24];
	size_t len;
} sequences[] = {
	{ "no token", { 0 }, 0 },
	{ "fewer literals than announced", { 0x80, 1, 2, 3 }, 4 },
	{ "a length without an end", { 0xf0, 255, 255, 255 }, 4 },
	{ "more literals than room", { 0xf0, 255, 1 }, 3 },
	{ "no offset", { 0x11, 1 }, 2 },
	{ "half an offset", { 0x11, 1, 1 }, 3 },
	{ "an offset of zero", { 0x1f, 1, 0, 0, 41, 0x50, 1, 2, 3, 4, 5 }, 11 },
	{ "an offset before the beginning", { 0x1f, 1, 2, 0, 41, 0x50, 1, 2, 3, 4, 5 }, 11 },
	{ "a match beyond the end", { 0x1f, 1, 1, 0, 200, 0x50, 1, 2, 3, 4, 5 }, 11 },
	{ "no literals at the end", { 0x1f, 1, 1, 0, 44 }, 5 },
	{ "fewer bytes than announced", { 0x1f, 1, 1, 0, 4, 0x50, 1, 2, 3, 4, 5 }, 11 },
	{ "more bytes than announced", { 0x1f, 1, 1, 0, 41, 0x50, 1, 2, 3, 4, 5 }, 11 },
};

TEST_F(packed, invalid_sequences_are_damage)
{
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		const struct posixtrace_log_piece piece = {
			.size = sequences[i].len, .records_size = 64,
		};
		struct log_writer log;
		struct log_sum sum;

		begin_log(&log);
		begin_block(&log, 64);
		put_piece(&log, &piece, sequences[i].bytes, sequences[i].len);
		finish(&log, &sum);
		EXPECT_TRUE(is_damaged_once(&sum)) {
			TH_LOG("%s", sequences[i].what);
		}
		log_free(&log);
	}
}

#define MANY_CPUS	8000U

/*
 * The blocks of all CPUs begin at the same time. Each decompresses to 64 KiB, which makes 500 MiB
 * together. The reader must give up some of them.
 */
TEST(forged_log_takes_bounded_memory)
{
	static unsigned char records[POSIXTRACE_LOG_PIECE_MAX], packed[8192];
	struct posixtrace_log_piece piece = { .records_size = sizeof(records) };
	struct log_writer log, scratch;
	struct rusage usage;
	struct log_sum sum;

	log_begin(&scratch, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 3, 0);
	log_block_begin(&scratch, POSIXTRACE_LOG_EVENTS, 0);
	log_event(&scratch, 1);
	memcpy(records, scratch.data + scratch.at + LOG_BLOCK, scratch.block.size);
	log_free(&scratch);
	piece.size = log_lz4(packed, sizeof(packed), records, sizeof(records));
	ASSERT_LT(0, piece.size);

	log_begin(&log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, MANY_CPUS, 0);
	log.header.subbuf_size = sizeof(records);
	log_header(&log);
	for (__u32 cpu = 0; cpu < MANY_CPUS; cpu++) {
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, cpu);
		log.block.compression = POSIXTRACE_COMPRESS_LZ4;
		log.block.records_size = sizeof(records);
		log.block.opened = LOG_TIME0;
		log.block.closed = LOG_TIME0 + 10;
		put_piece(&log, &piece, packed, piece.size);
		log_block_end(&log);
	}
	log_sum_log(&log, &sum);
	log_free(&log);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(0, sum.disorder);
	/* Each block has one valid record, and then an invalid one. */
	EXPECT_EQ(MANY_CPUS, sum.errors);
	EXPECT_LT(MANY_CPUS / 4, sum.events);
	ASSERT_EQ(0, getrusage(RUSAGE_SELF, &usage));
	EXPECT_GT(400L << 10, usage.ru_maxrss);
}

TEST_HARNESS_MAIN
