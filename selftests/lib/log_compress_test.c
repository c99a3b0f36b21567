// SPDX-License-Identifier: GPL-2.0
/*
 * Compressed logs must have the same events in fewer bytes. If the kernel lacks the compressor,
 * logs are not compressed.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <stdlib.h>
#include <string.h>

#include "logfile.h"
#include "pxt_test.h"
#include "withlog.h"

#define LOG_SIZE	(32U << 10)
#define COUNT		2000
#define LARGE_COUNT	300

FIXTURE(compress)
{
	trace_id_t trid;
	int fd;
	/* the module compresses logs */
	bool available;
};

FIXTURE_SETUP(compress)
{
	struct posixtrace_info info;
	int device = device_open();

	ASSERT_EQ(0, command(device, POSIXTRACE_IOC_INFO, &info));
	close(device);
	self->available = info.features & POSIXTRACE_FEATURE_LZ4;
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	self->trid = -1;
}

FIXTURE_TEARDOWN(compress)
{
	posix_trace_shutdown(self->trid);
	close(self->fd);
}

static const struct log_kind append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, LOG_SIZE };
static const struct log_kind until_full = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, LOG_SIZE };
static const struct log_kind loop = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, LOG_SIZE };

/* Records @count numbers, flushing after every 500, and completes the log. */
static int record_all(trace_id_t trid, int count)
{
	int err = 0;

	for (int i = 0; !err && i < count; i += 500) {
		withlog_record(i, count - i < 500 ? count - i : 500);
		err = withlog_flush(trid);
	}
	return err ? err : posix_trace_shutdown(trid);
}

/* The blocks of events in a log that is not a ring. */
struct blocks {
	int packed;	/* number of compressed blocks */
	int plain;	/* number of other blocks with user events */
	size_t in_file;	/* bytes of their payloads in the file */
	size_t pieces;	/* number of pieces of the compressed blocks */
};

static size_t pieces_of(const struct posixtrace_log_block *block)
{
	const unsigned char *at = (const void *)(block + 1), *end = at + block->size;
	struct posixtrace_log_piece piece;
	size_t count = 0;

	for (; at < end; at += POSIXTRACE_LOG_PIECE_STEP(piece.size), count++)
		memcpy(&piece, at, sizeof(piece));
	return count;
}

static int read_blocks(int fd, struct blocks *blocks)
{
	const struct posixtrace_log_block *block;
	struct logfile log;
	uint64_t seq = 0;
	size_t at;
	int err = logfile_read(&log, fd);

	memset(blocks, 0, sizeof(*blocks));
	for (at = log.header.data_offset; !err && at < log.size; at = logfile_next(block, at)) {
		block = logfile_block(&log, at, ++seq);
		if (!block) {
			err = -EPROTO;
			break;
		}
		if (block->type != POSIXTRACE_LOG_EVENTS || block->cpu == log.header.nr_cpus)
			continue;
		blocks->in_file += block->size;
		blocks->packed += block->compression == POSIXTRACE_COMPRESS_LZ4;
		blocks->plain += !block->compression;
		blocks->pieces += block->compression ? pieces_of(block) : 0;
	}
	logfile_free(&log);
	return err;
}

TEST(attribute_is_none_by_default_and_keeps_its_value)
{
	int compression = -1;
	trace_attr_t attr;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posixtrace_attr_getcompression(&attr, &compression));
	EXPECT_EQ(POSIXTRACE_COMPRESS_NONE, compression);
	ASSERT_EQ(0, posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESS_LZ4));
	ASSERT_EQ(0, posixtrace_attr_getcompression(&attr, &compression));
	EXPECT_EQ(POSIXTRACE_COMPRESS_LZ4, compression);
	EXPECT_EQ(EINVAL, posixtrace_attr_setcompression(&attr, 2));
	EXPECT_EQ(EINVAL, posixtrace_attr_setcompression(&attr, -1));
	EXPECT_EQ(EINVAL, posixtrace_attr_setcompression(NULL, POSIXTRACE_COMPRESS_LZ4));
	EXPECT_EQ(EINVAL, posixtrace_attr_getcompression(NULL, &compression));
	EXPECT_EQ(EINVAL, posixtrace_attr_getcompression(&attr, NULL));
	ASSERT_EQ(0, posixtrace_attr_getcompression(&attr, &compression));
	EXPECT_EQ(POSIXTRACE_COMPRESS_LZ4, compression);
	ASSERT_EQ(0, posix_trace_attr_destroy(&attr));
	EXPECT_EQ(EINVAL, posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESS_LZ4));
}

TEST_F(compress, attributes_of_the_stream_say_what_the_module_has)
{
	int compression = -1;
	trace_attr_t attr;

	ASSERT_EQ(0, withlog_start_compressed(&append, POSIXTRACE_COMPRESS_LZ4, self->fd,
					      &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	EXPECT_EQ(0, posixtrace_attr_getcompression(&attr, &compression));
	EXPECT_EQ(self->available ? POSIXTRACE_COMPRESS_LZ4 : POSIXTRACE_COMPRESS_NONE,
		  compression);
}

TEST_F(compress, stream_without_log_is_not_compressed)
{
	int compression = -1;
	trace_attr_t attr;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESS_LZ4));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	EXPECT_EQ(0, posixtrace_attr_getcompression(&attr, &compression));
	EXPECT_EQ(POSIXTRACE_COMPRESS_NONE, compression);
}

TEST_F(compress, append_has_all_events_in_half_the_bytes)
{
	struct log_content content;
	struct blocks plain, packed;

	ASSERT_EQ(0, withlog_start_compressed(&append, POSIXTRACE_COMPRESS_NONE, self->fd,
					      &self->trid));
	ASSERT_EQ(0, record_all(self->trid, COUNT));
	ASSERT_EQ(0, read_blocks(self->fd, &plain));
	EXPECT_EQ(0, plain.packed);
	ASSERT_EQ(0, ftruncate(self->fd, 0));

	ASSERT_EQ(0, withlog_start_compressed(&append, POSIXTRACE_COMPRESS_LZ4, self->fd,
					      &self->trid));
	ASSERT_EQ(0, record_all(self->trid, COUNT));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, COUNT));
	ASSERT_EQ(0, read_blocks(self->fd, &packed));
	if (!self->available) {
		EXPECT_EQ(0, packed.packed);
		return;
	}
	EXPECT_LT(0, packed.packed);
	EXPECT_GT(plain.in_file, 2 * packed.in_file);
}

TEST_F(compress, until_full_has_room_for_more_events)
{
	struct log_content plain, packed;

	ASSERT_EQ(0, withlog_start_compressed(&until_full, POSIXTRACE_COMPRESS_NONE, self->fd,
					      &self->trid));
	ASSERT_EQ(0, record_all(self->trid, 10 * COUNT));
	log_content_fd(self->fd, &plain);
	ASSERT_EQ(0, plain.err);
	ASSERT_EQ(0, ftruncate(self->fd, 0));

	ASSERT_EQ(0, withlog_start_compressed(&until_full, POSIXTRACE_COMPRESS_LZ4, self->fd,
					      &self->trid));
	ASSERT_EQ(0, record_all(self->trid, 10 * COUNT));
	log_content_fd(self->fd, &packed);
	ASSERT_EQ(0, packed.err);
	EXPECT_EQ(0, packed.first);
	EXPECT_EQ(0, packed.holes + packed.disorder + packed.errors);
	EXPECT_EQ(POSIX_TRACE_STOP, packed.last_id);
	EXPECT_EQ(POSIX_TRACE_FULL, packed.status.posix_log_full_status);
	if (self->available)
		EXPECT_LT(3 * plain.numbers / 2, packed.numbers);
}

TEST_F(compress, loop_has_more_of_the_newest_events)
{
	struct log_content plain, packed;

	ASSERT_EQ(0, withlog_start_compressed(&loop, POSIXTRACE_COMPRESS_NONE, self->fd,
					      &self->trid));
	ASSERT_EQ(0, record_all(self->trid, 10 * COUNT));
	log_content_fd(self->fd, &plain);
	ASSERT_EQ(0, plain.err);

	ASSERT_EQ(0, withlog_start_compressed(&loop, POSIXTRACE_COMPRESS_LZ4, self->fd,
					      &self->trid));
	ASSERT_EQ(0, record_all(self->trid, 10 * COUNT));
	log_content_fd(self->fd, &packed);
	ASSERT_EQ(0, packed.err);
	EXPECT_EQ(10 * COUNT - 1, packed.last);
	EXPECT_EQ(0, packed.holes + packed.disorder + packed.errors);
	if (self->available)
		EXPECT_LT(3 * plain.numbers / 2, packed.numbers);
}

TEST_F(compress, random_data_is_stored_as_it_is)
{
	unsigned char data[LOG_DATA_SIZE];
	struct blocks blocks;
	unsigned int state = 1;

	ASSERT_EQ(0, withlog_start_compressed(&append, POSIXTRACE_COMPRESS_LZ4, self->fd,
					      &self->trid));
	/* Compressing a single record would save less than the header of a piece takes. */
	for (size_t i = 0; i < sizeof(data); i++) {
		state = state * 1103515245 + 12345;
		data[i] = state >> 16;
	}
	posix_trace_event(withlog_type(), data, sizeof(data));
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, read_blocks(self->fd, &blocks));
	EXPECT_EQ(0, blocks.packed);
	EXPECT_EQ(1, blocks.plain);
}

/* Fills data of the largest size. Only the first bytes differ between events. */
static void fill(unsigned char *data, size_t len, int number)
{
	memset(data, number, len);
	memcpy(data, &number, sizeof(number));
}

TEST_F(compress, large_records_are_in_pieces)
{
	static unsigned char data[POSIXTRACE_DATA_SIZE_MAX], got[POSIXTRACE_DATA_SIZE_MAX];
	const trace_event_id_t type = withlog_type();
	struct posix_trace_event_info event;
	struct blocks blocks;
	int unavailable = 0, next = 0;
	trace_attr_t attr;
	trace_id_t log;
	size_t len;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 32 << 20));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, sizeof(data)));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	ASSERT_EQ(0, posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESS_LZ4));
	ASSERT_EQ(0, posix_trace_create_withlog(0, &attr, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < LARGE_COUNT; i++) {
		len = i % 3 ? 100 : sizeof(data);
		fill(data, len, i);
		posix_trace_event(type, data, len);
	}
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, read_blocks(self->fd, &blocks));
	if (self->available)
		EXPECT_LT(blocks.packed, blocks.pieces);
	ASSERT_EQ(0, posix_trace_open(self->fd, &log));
	while (!posix_trace_getnext_event(log, &event, got, sizeof(got), &len, &unavailable) &&
	       !unavailable) {
		if (event.posix_event_id != type)
			continue;
		fill(data, len, next);
		EXPECT_EQ(next % 3 ? 100 : sizeof(data), len);
		EXPECT_EQ(0, memcmp(data, got, len));
		next++;
	}
	EXPECT_EQ(LARGE_COUNT, next);
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_F(compress, log_that_is_cleared_is_compressed_again)
{
	struct log_content content;

	ASSERT_EQ(0, withlog_start_compressed(&loop, POSIXTRACE_COMPRESS_LZ4, self->fd,
					      &self->trid));
	withlog_record(0, 500);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, record_all(self->trid, 700));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 700));
}

TEST_HARNESS_MAIN
