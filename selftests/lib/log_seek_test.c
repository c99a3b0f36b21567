// SPDX-License-Identifier: GPL-2.0
/*
 * The index that the module writes at the end of a log. Each mark must refer to a block in the log.
 * posixtrace_seek() uses the marks to find the events from a time on.
 */
#define _GNU_SOURCE
#include <linux/posixtrace_log.h>
#include <posixtrace.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "log_reading.h"
#include "logfile.h"
#include "pxt_test.h"
#include "withlog.h"

#define FLUSHES		1100	/* more flushes than an index can have marks */
#define PER_FLUSH	4
#define COUNT		(FLUSHES * PER_FLUSH)

/* The contents of a log. */
struct marks {
	unsigned int blocks;	/* number of blocks of events */
	unsigned int index;	/* number of blocks of the index */
	unsigned int marks;
	unsigned int right;	/* marks equal to the header of a block of events */
	bool before_end;	/* the last block of the index is right before END */
};

/* Is the block at @offset complete? */
static bool block_at(const unsigned char *bytes, size_t size, size_t offset,
		     struct posixtrace_log_block *block)
{
	if (offset > size || size - offset < sizeof(*block))
		return false;
	memcpy(block, bytes + offset, sizeof(*block));
	return block->magic == POSIXTRACE_LOG_BLOCK_MAGIC &&
	       block->size <= size - offset - sizeof(*block);
}

static bool has_events(const struct posixtrace_log_block *block)
{
	return block->type == POSIXTRACE_LOG_EVENTS || block->type == POSIXTRACE_LOG_KERNEL;
}

static void read_index(const unsigned char *bytes, size_t size, size_t offset, __u32 count,
		       struct marks *marks)
{
	struct posixtrace_log_block block;
	struct posixtrace_log_mark mark;

	for (__u32 i = 0; i < count; i++) {
		memcpy(&mark, bytes + offset + i * sizeof(mark), sizeof(mark));
		marks->marks++;
		marks->right += block_at(bytes, size, mark.offset, &block) && has_events(&block) &&
				block.seq == mark.seq && block.epoch == mark.epoch &&
				block.closed == mark.closed;
	}
}

/* Reads the blocks at the offset and after it. */
static void read_blocks(const unsigned char *bytes, size_t size, size_t offset,
			struct marks *marks)
{
	struct posixtrace_log_block block;

	while (block_at(bytes, size, offset, &block)) {
		if (block.type == POSIXTRACE_LOG_END)
			break;
		marks->blocks += has_events(&block);
		marks->before_end = block.type == POSIXTRACE_LOG_INDEX;
		if (marks->before_end) {
			marks->index++;
			read_index(bytes, size, offset + sizeof(block), block.count, marks);
		}
		offset += sizeof(block) + block.size;
	}
}

static bool read_marks(int fd, struct marks *marks)
{
	struct posixtrace_log_header header;
	size_t size = log_file_size(fd);
	unsigned char *bytes = malloc(size);

	memset(marks, 0, sizeof(*marks));
	if (!bytes || pread(fd, bytes, size, 0) != (ssize_t)size)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.ring_size)
		read_blocks(bytes, size, header.metadata_offset, marks);
	else
		read_blocks(bytes, size, header.data_offset, marks);
	free(bytes);
	return true;
}

/* Reads a number. Returns -1 for an event without one, -2 at the end. */
static int next_number(trace_id_t trid, struct event *event)
{
	__u64 number;

	do {
		if (log_take(trid, event) != 1)
			return -2;
	} while (event->info.posix_event_id != withlog_type());
	memcpy(&number, event->data, sizeof(number));
	return (int)number;
}

FIXTURE(seek)
{
	int fd;
};

FIXTURE_VARIANT(seek)
{
	struct log_kind kind;
	int compression;
	int flushes;
};

FIXTURE_VARIANT_ADD(seek, append)
{
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 }, POSIXTRACE_COMPRESS_NONE, FLUSHES
};

FIXTURE_VARIANT_ADD(seek, compressed)
{
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 16 << 20 }, POSIXTRACE_COMPRESS_LZ4, 100
};

FIXTURE_VARIANT_ADD(seek, loop)
{
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 1 << 20 }, POSIXTRACE_COMPRESS_NONE, FLUSHES
};

/* The ring holds only the last flushes. */
FIXTURE_VARIANT_ADD(seek, overwritten)
{
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 64000 }, POSIXTRACE_COMPRESS_NONE, FLUSHES
};

FIXTURE_SETUP(seek)
{
	trace_id_t trid;

	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, withlog_start_compressed(&variant->kind, variant->compression, self->fd,
					      &trid));
	for (int i = 0; i < variant->flushes; i++) {
		if (i == variant->flushes / 2)
			prctl(PR_SET_NAME, "halfway");
		withlog_record(i * PER_FLUSH, PER_FLUSH);
		ASSERT_EQ(0, withlog_flush(trid));
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid));
}

FIXTURE_TEARDOWN(seek)
{
	close(self->fd);
}

TEST_F_TIMEOUT(seek, marks_are_of_blocks_in_the_log, 120)
{
	struct marks marks;

	ASSERT_TRUE(read_marks(self->fd, &marks));
	EXPECT_LE(1, marks.index);
	/* Each epoch has a mark, or if there are too many, every second epoch. */
	EXPECT_LT(variant->flushes > 1024 ? 16 : 90, marks.marks);
	EXPECT_GE(1025, marks.marks);
	EXPECT_EQ(marks.marks, marks.right);
	EXPECT_TRUE(marks.before_end);
}

TEST_F_TIMEOUT(seek, finds_the_events_from_a_time, 120)
{
	int first = -1, last = -1, number, wanted, read;
	struct timespec *time, at;
	struct event event;
	trace_id_t trid;

	time = calloc(variant->flushes * PER_FLUSH, sizeof(*time));
	ASSERT_NE(NULL, time);
	ASSERT_EQ(0, posix_trace_open(self->fd, &trid));
	while ((number = next_number(trid, &event)) >= 0) {
		first = first < 0 ? number : first;
		ASSERT_GT(variant->flushes * PER_FLUSH, number);
		time[number] = event.info.posix_timestamp;
		last = number;
	}
	EXPECT_EQ(variant->flushes * PER_FLUSH - 1, last);
	for (wanted = first; wanted <= last; wanted += (last - first) / 37 + 1) {
		at = time[wanted];
		ASSERT_EQ(0, posixtrace_seek(trid, &at));
		number = next_number(trid, &event);
		/* Some older events may be read first, but not all of them. */
		EXPECT_LE(first, number);
		EXPECT_GE(wanted, number);
		EXPECT_LE(wanted - 12 * PER_FLUSH, number);
		for (read = number; read < last; read++)
			ASSERT_EQ(read + 1, next_number(trid, &event));
		EXPECT_EQ(-2, next_number(trid, &event));
	}
	posix_trace_close(trid);
	free(time);
}

static int log_with_flushes(const struct log_kind *kind, int fd, int flushes)
{
	trace_id_t trid;
	int err = withlog_start(kind, fd, &trid);

	for (int i = 0; !err && i < flushes; i++) {
		withlog_record(i * PER_FLUSH, PER_FLUSH);
		err = withlog_flush(trid);
	}
	return err ? err : posix_trace_shutdown(trid);
}

static const struct log_kind append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };

TEST(a_short_log_has_no_index)
{
	int fd = log_tmpfile();
	struct marks marks;

	ASSERT_EQ(0, log_with_flushes(&append, fd, 2));
	ASSERT_TRUE(read_marks(fd, &marks));
	EXPECT_EQ(0, marks.index);
	EXPECT_LT(0, marks.blocks);
	close(fd);
}

/* If there is no space for both the index and the status, the log must have the status. */
TEST(the_status_matters_more_than_the_index)
{
	int fd = log_tmpfile(), full, without = 0;
	struct log_content content;
	struct rlimit limit, old;
	struct marks marks;
	cpu_set_t cpus;

	/* Stay on one CPU, so that all logs have the same blocks. */
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_EQ(0, log_with_flushes(&append, fd, 20));
	ASSERT_TRUE(read_marks(fd, &marks));
	ASSERT_EQ(1, marks.index);
	full = log_file_size(fd);
	close(fd);
	ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &old));
	limit = old;
	/* At first, END does not fit after the index. Later, the index does not fit either. */
	for (int less = 8; less < 500; less += 40) {
		limit.rlim_cur = full - less;
		fd = log_tmpfile();
		ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
		ASSERT_EQ(0, log_with_flushes(&append, fd, 20));
		ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &old));
		log_content_fd(fd, &content);
		EXPECT_TRUE(log_content_is(&content, 20 * PER_FLUSH));
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
		ASSERT_TRUE(read_marks(fd, &marks));
		without += !marks.index;
		close(fd);
	}
	EXPECT_LT(5, without);
}

TEST_HARNESS_MAIN
