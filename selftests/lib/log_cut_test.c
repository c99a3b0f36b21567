// SPDX-License-Identifier: GPL-2.0
/*
 * Logs from the module that are truncated at every byte, or have flipped bits.
 */
#define _GNU_SOURCE
#include <linux/posixtrace_log.h>

#include "pxt_test.h"
#include "withlog.h"

/* How many numbers to record: they take a few blocks. */
#define NUMBERS	60

FIXTURE(cut)
{
	unsigned char *bytes;
	off_t size;
	off_t data;		/* offset of the first block */
	off_t hole;		/* LOOP: end of the blocks in the ring */
	off_t hole_end;		/* LOOP: end of the ring */
	struct log_content whole;
};

FIXTURE_VARIANT(cut)
{
	struct log_kind kind;
};

FIXTURE_VARIANT_ADD(cut, append) { { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 } };
FIXTURE_VARIANT_ADD(cut, until_full) { { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 0 } };
/* Use a small ring, because each check searches all of it. */
FIXTURE_VARIANT_ADD(cut, loop) { { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 64000 } };

FIXTURE_SETUP(cut)
{
	struct posixtrace_log_header header;
	int fd = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&variant->kind, fd, &trid));
	for (int i = 0; i < 3; i++) {
		withlog_record(i * NUMBERS / 3, NUMBERS / 3);
		ASSERT_EQ(0, withlog_flush(trid));
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &self->whole);
	ASSERT_TRUE(log_content_is(&self->whole, NUMBERS));
	ASSERT_EQ(POSIX_TRACE_NO_OVERRUN, self->whole.status.posix_log_overrun_status);

	self->size = log_file_size(fd);
	self->bytes = malloc(self->size);
	ASSERT_NE(NULL, self->bytes);
	ASSERT_EQ(self->size, pread(fd, self->bytes, self->size, 0));
	memcpy(&header, self->bytes, sizeof(header));
	self->data = header.data_offset;
	self->hole_end = header.ring_size ? (off_t)header.metadata_offset : self->size;
	for (self->hole = self->hole_end; !self->bytes[self->hole - 1]; self->hole--)
		;
	close(fd);
}

FIXTURE_TEARDOWN(cut)
{
	free(self->bytes);
}

/*
 * Returns the offset of the next byte to check. Skips empty areas, and more bytes on a slow kernel.
 */
static off_t next_byte(const struct _test_data_cut *self, off_t pos, int step)
{
	/* The area for the names of a LOOP log is large, and contains only one name. */
	if (pos > 1024 && pos < self->data - 64)
		return self->data - 64;
	/* The rest of the ring, before the metadata, is also large and empty. */
	if (pos > self->hole + 64 && pos < self->hole_end - 64)
		return self->hole_end - 64;
	return pos + (pxt_time_scale() > 1 ? 13 : step * pxt_stride());
}

TEST_F_TIMEOUT(cut, truncated_at_any_byte_has_the_events_before_it, 120)
{
	struct log_content content;
	int numbers = 0, fd;
	off_t len;

	for (len = 0; len < self->size; len = next_byte(self, len, 1)) {
		/*
		 * The status of a LOOP log precedes the blocks, so a truncated copy may still
		 * contain the status.
		 */
		fd = log_tmpfile();
		ASSERT_LE(0, fd);
		ASSERT_EQ(len, pwrite(fd, self->bytes, len, 0));
		log_content_fd(fd, &content);
		close(fd);
		if (len < (off_t)sizeof(struct posixtrace_log_header)) {
			ASSERT_EQ(EINVAL, content.err);
			continue;
		}
		ASSERT_EQ(0, content.err);
		ASSERT_EQ(0, content.errors + content.holes + content.disorder);
		ASSERT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
		/*
		 * The log has the numbers from 0 on. A longer part of the file has at least as
		 * many.
		 */
		ASSERT_LE(numbers, content.numbers);
		if (content.numbers)
			ASSERT_EQ(0, content.first);
		numbers = content.numbers;
	}
	/* The file without its last byte still has all numbers. */
	EXPECT_EQ(NUMBERS, numbers);
}

TEST_F_TIMEOUT(cut, with_a_wrong_bit_loses_at_most_one_block, 120)
{
	struct log_content content;
	int fd = log_tmpfile(), damaged = 0;
	unsigned char byte;
	off_t pos;

	ASSERT_LE(0, fd);
	ASSERT_EQ(self->size, pwrite(fd, self->bytes, self->size, 0));
	for (pos = 0; pos < self->size; pos = next_byte(self, pos, 5)) {
		byte = self->bytes[pos] ^ 1U << pos % 8;
		ASSERT_EQ(1, pwrite(fd, &byte, 1, pos));
		log_content_fd(fd, &content);
		ASSERT_EQ(1, pwrite(fd, &self->bytes[pos], 1, pos));
		if (pos < (off_t)sizeof(struct posixtrace_log_header)) {
			ASSERT_EQ(EINVAL, content.err);
			continue;
		}
		ASSERT_EQ(0, content.err);
		ASSERT_EQ(0, content.disorder);
		/*
		 * Each flush writes a block of numbers of at least one CPU, so a single block has
		 * at most a third of the numbers.
		 */
		ASSERT_LE(NUMBERS - NUMBERS / 3, content.numbers);
		if (content.numbers < NUMBERS) {
			damaged++;
			ASSERT_EQ(1, content.errors);
			ASSERT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_stream_overrun_status);
			ASSERT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
		}
	}
	close(fd);
	EXPECT_LT(100, damaged);
}

TEST_HARNESS_MAIN
