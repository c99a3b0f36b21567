// SPDX-License-Identifier: GPL-2.0
/*
 * The time and memory for reading a log must be bounded, whatever it contains. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "log_reading.h"
#include "process.h"

#define MIB	(1UL << 20)

/* AddressSanitizer keeps freed memory for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_SCALE	16
#else
#define MEMORY_SCALE	1
#endif

/*
 * Limits the process to @more bytes of additional memory. Not under valgrind, whose need is
 * unknown.
 */
static int limit_memory(size_t more)
{
	const struct rlimit limit = { memory_in_use() + more * MEMORY_SCALE, RLIM_INFINITY };

	if (getenv("PXT_UNDER_VALGRIND"))
		return 0;
	return setrlimit(RLIMIT_AS, &limit);
}

static int unlimit_memory(void)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_AS, &limit);
}

/* ------------------------------------------------------------------ */
/* Files that are much larger than their contents			*/

TEST(hole_of_an_exabyte)
{
	struct log_writer log;
	struct log_sum sum;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&log, 1, 2, 10);
	fd = log_file(&log);
	ASSERT_EQ(0, ftruncate(fd, 1L << 60));
	log_sum_fd(fd, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(40, sum.events);
	EXPECT_EQ(1, sum.errors);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	close(fd);
	log_free(&log);
}

TEST(ring_of_an_exabyte)
{
	struct log_writer log;
	struct log_sum sum;
	int fd;

	log_begin(&log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 2, 1L << 60);
	log_epochs(&log, 1, 2, 10);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	/*
	 * The first time, the file has the size that a writer leaves. The second time, its size
	 * makes the reader search.
	 */
	for (int i = 0; i < 2; i++) {
		fd = log_file(&log);
		if (i)
			ASSERT_EQ(0, ftruncate(fd, (1L << 60) + (1L << 59)));
		log_sum_fd(fd, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(40, sum.events);
		EXPECT_EQ(0, sum.errors);
		close(fd);
	}
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* Maximum numbers of CPUs and blocks					*/

TEST(many_cpus)
{
	const __u32 cpus = POSIXTRACE_LOG_CPUS_MAX - 1;
	struct log_writer log;
	struct log_sum sum;
	__u64 end;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, cpus, 0);
	end = log_epochs(&log, 0, 2, 5);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	fd = log_file(&log);
	ASSERT_EQ(0, limit_memory(64 * MIB));
	log_sum_fd(fd, &sum);
	ASSERT_EQ(0, unlimit_memory());
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(end, sum.events);
	EXPECT_EQ(end * (end - 1) / 2, sum.sum);
	EXPECT_EQ(0, sum.disorder);
	EXPECT_EQ(0, sum.errors);
	close(fd);
	log_free(&log);
}

/* Large blocks of many CPUs have the same time. Together they do not fit into memory. */
TEST(large_blocks_of_many_cpus)
{
	const __u32 cpus = 300, size = POSIXTRACE_SUBBUF_SIZE_MAX;
	struct posixtrace_log_block *block;
	struct record record = {
		.data_len = 8,
		.event_id = 64,
		.timestamp = LOG_TIME0,
		.pid = 4711,
	};
	struct log_writer log;
	struct log_sum sum;
	unsigned char *payload;
	size_t header;
	off_t at;
	int fd;

	/* A block has one record. The rest of the block is a hole in the file. */
	payload = calloc(1, size);
	ASSERT_NE(NULL, payload);
	header = record_format(&record, NULL, payload);
	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, cpus, 0);
	log.header.subbuf_size = size;
	log_header(&log);
	fd = log_file(&log);
	at = LOG_HEADER;
	block = &log.block;
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 0);
	block->opened = LOG_TIME0;
	block->closed = ~0ULL;
	block->size = size;
	block->payload_crc = log_crc(payload, size);
	for (block->cpu = 0; block->cpu < cpus; block->cpu++, block->seq++) {
		block->crc = 0;
		block->crc = log_crc(block, sizeof(*block));
		ASSERT_EQ((ssize_t)sizeof(*block), pwrite(fd, block, sizeof(*block), at));
		at += sizeof(*block);
		ASSERT_EQ((ssize_t)header, pwrite(fd, payload, header, at));
		at += size;
	}
	ASSERT_EQ(0, ftruncate(fd, at));
	free(payload);
	ASSERT_EQ(0, limit_memory(64 * MIB));
	log_sum_fd(fd, &sum);
	ASSERT_EQ(0, unlimit_memory());
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(cpus, sum.events);
	EXPECT_EQ(cpus, sum.errors);
	close(fd);
	log_free(&log);
}

/*
 * An epoch has more blocks than the reader can index. It must report this, but must not lose
 * blocks.
 */
TEST(many_blocks_in_one_epoch)
{
	const unsigned int nr = 70000;
	struct log_writer log;
	struct log_sum sum;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	for (unsigned int i = 0; i < nr; i++) {
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, i % 2);
		log_event(&log, i);
		log_block_end(&log);
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	fd = log_file(&log);
	ASSERT_EQ(0, limit_memory(16 * MIB));
	log_sum_fd(fd, &sum);
	ASSERT_EQ(0, unlimit_memory());
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(nr, sum.events);
	EXPECT_LE(1, sum.errors);
	EXPECT_GE(10, sum.errors);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	close(fd);
	log_free(&log);
}

/* With the same number of blocks in many epochs, it is an ordinary log. */
TEST(many_epochs)
{
	const unsigned int nr = 40000;
	struct log_writer log;
	struct log_sum sum;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	for (unsigned int i = 0; i < nr; i++) {
		log.epoch = i / 100;
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, i % 2);
		log_event(&log, i);
		log_block_end(&log);
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	fd = log_file(&log);
	ASSERT_EQ(0, limit_memory(2 * MIB));
	log_sum_fd(fd, &sum);
	ASSERT_EQ(0, unlimit_memory());
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(nr, sum.events);
	EXPECT_EQ(0, sum.errors);
	EXPECT_EQ(0, sum.disorder);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);
	close(fd);
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* Without memory							*/

TEST(enomem_loses_nothing)
{
	struct log_sum sum;
	struct log_writer log;
	unsigned int failed = 0;
	struct event event;
	trace_id_t trid;
	__u64 end;
	int fd, ret, err;

	PXT_NOT_WITH_TSAN("wants memory, too");
	if (getenv("PXT_UNDER_VALGRIND"))
		SKIP(return, "its limit is for valgrind's memory, too");
	/* The reader's buffers for all CPUs together would be much larger than the limit. */
	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 1500, 0);
	end = log_epochs(&log, 0, 3, 20);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	fd = log_file(&log);

	for (size_t more = 0; more < 4 * MIB; more += 64 << 10) {
		ASSERT_EQ(0, limit_memory(more));
		err = posix_trace_open(fd, &trid);
		ASSERT_EQ(0, unlimit_memory());
		if (!err)
			err = posix_trace_close(trid);
		ASSERT_TRUE(!err || err == ENOMEM);
	}

	memset(&sum, 0, sizeof(sum));
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	for (size_t more = 0; more < 8 * MIB; more += MIB) {
		ASSERT_EQ(0, limit_memory(more));
		while ((ret = log_take(trid, &event)) == 1)
			log_count(&sum, &event);
		ASSERT_EQ(0, unlimit_memory());
		failed += ret == -ENOMEM;
	}
	EXPECT_LT(0, failed);
	while ((ret = log_take(trid, &event)) == 1)
		log_count(&sum, &event);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(end, sum.events);
	EXPECT_EQ(end * (end - 1) / 2, sum.sum);
	EXPECT_EQ(0, sum.errors);
	EXPECT_EQ(0, sum.disorder);
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* Metadata of a LOOP log						*/

#define ASKED	2000
/* More than a reader may spend on fruitless searches and on reading the log otherwise. */
#define READ_MAX	(96 * MIB)
#define TEXT	"a command line"

/* Returns how many bytes this process has read so far. */
static unsigned long bytes_read(void)
{
	unsigned long bytes = 0;
	FILE *file = fopen("/proc/self/io", "re");

	if (!file || fscanf(file, "rchar: %lu", &bytes) != 1)
		abort();
	fclose(file);
	return bytes;
}

FIXTURE(row)
{
	struct log_writer log;
	struct posixtrace_log_info info;
	trace_id_t trid;
	size_t at;	/* offset of the last metadata block */
	unsigned long before;
	int fd;
};

/* After the first metadata block, the file has 4 MiB that do not belong to a log. */
FIXTURE_SETUP(row)
{
	static const unsigned char garbage[4 * MIB] = { 1 };

	if (access("/proc/self/io", F_OK))
		PXT_SKIP_IN_SETUP("kernel without CONFIG_TASK_IO_ACCOUNTING");
	log_begin(&self->log, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH, 2, 64 << 10);
	log_epochs(&self->log, 0, 1, 4);
	log_task(&self->log, 1, 1, LOG_TIME0, "first");
	log_put(&self->log, self->log.metadata_pos, garbage, sizeof(garbage));
	log_end(&self->log, 0);
	self->fd = log_file(&self->log);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
	self->before = bytes_read();
}

FIXTURE_TEARDOWN(row)
{
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(self->fd);
	log_free(&self->log);
}

/* Asks for a thread that is not in the log, so that the reader looks for new metadata each time. */
static int ask_often(trace_id_t trid, int times)
{
	const struct timespec time = { LOG_TIME0 / 1000000000, 1 };
	int err = ENOENT;

	while (times-- && err == ENOENT)
		err = posixtrace_get_thread_life(trid, 1, 2, &time, NULL, NULL);
	return err;
}

/* Returns 0 if the log has the right command line. */
static int program(trace_id_t trid, int pid)
{
	const struct timespec time = { LOG_TIME0 / 1000000000, 1 };
	char text[POSIXTRACE_PROGRAM_SIZE];
	int err = ask_often(trid, 1);

	if (err == ENOENT)
		err = posixtrace_get_program(trid, pid, &time, text, sizeof(text), NULL);
	return err ? err : strcmp(text, TEXT);
}

static void add_program(struct _test_data_row *self, int pid)
{
	self->at = log_program(&self->log, pid, LOG_TIME0, TEXT, sizeof(TEXT));
}

static void write_to(const struct _test_data_row *self, size_t from, size_t to)
{
	if (pwrite(self->fd, self->log.data + from, to - from, from) != (ssize_t)(to - from))
		abort();
}

/* Writes the first @size bytes of the last metadata block. */
static void write_part(const struct _test_data_row *self, size_t size)
{
	write_to(self, self->at, self->at + size);
}

static void write_rest(const struct _test_data_row *self)
{
	write_to(self, self->at, self->log.metadata_pos);
}

/* Ends a flush: writes the status. */
static void write_status(struct _test_data_row *self, __u32 flags)
{
	const size_t at = log_end(&self->log, flags);

	write_to(self, at, at + sizeof(self->log.end));
}

TEST_F(row, block_that_is_never_completed)
{
	add_program(self, 5);
	write_part(self, LOG_BLOCK);
	EXPECT_EQ(ENOENT, ask_often(self->trid, ASKED));
	EXPECT_GT(READ_MAX, bytes_read() - self->before);
}

/* The reader reads the incomplete block each time, but does not search after it. */
TEST_F(row, large_block_that_is_never_completed)
{
	static const char payload[LOG_SUBBUF] = { 1 };

	self->at = log_metadata(&self->log, POSIXTRACE_LOG_TASKS, 0, 1, payload, sizeof(payload));
	ASSERT_EQ(0, ftruncate(self->fd, self->log.metadata_pos));
	write_part(self, LOG_BLOCK);
	EXPECT_EQ(ENOENT, ask_often(self->trid, 20 * ASKED));
	EXPECT_GT(READ_MAX, bytes_read() - self->before);
}

TEST_F(row, place_without_a_block)
{
	EXPECT_EQ(ENOENT, ask_often(self->trid, ASKED));
	EXPECT_GT(READ_MAX, bytes_read() - self->before);
}

/* The blocks are in a file that is much larger than its contents. */
TEST_F(row, blocks_that_are_far_from_each_other)
{
	const size_t base = self->log.metadata_pos;
	const int count = 500;

	for (int i = 0; i < count; i++) {
		self->log.metadata_pos = base;
		add_program(self, i);
		ASSERT_EQ((ssize_t)(self->log.metadata_pos - base),
			  pwrite(self->fd, self->log.data + base, self->log.metadata_pos - base,
				 base + i * MIB));
	}
	write_status(self, POSIXTRACE_LOG_END_FINAL);
	EXPECT_EQ(0, program(self->trid, 0));
	EXPECT_EQ(0, program(self->trid, 10));
	EXPECT_EQ(ENOENT, program(self->trid, count - 1));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED | POSIXTRACE_LOG_DAMAGED, self->info.flags);
	EXPECT_GT(READ_MAX, bytes_read() - self->before);
}

/* A writer may take any time to write a block. */
TEST_F(row, header_completed_after_many_reads)
{
	add_program(self, 5);
	write_part(self, 16);
	EXPECT_EQ(ENOENT, ask_often(self->trid, ASKED));
	write_rest(self);
	EXPECT_EQ(0, program(self->trid, 5));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(0, self->info.flags);
}

TEST_F(row, block_completed_after_many_reads)
{
	for (int i = 0; i < 3; i++) {
		add_program(self, 5 + i);
		write_part(self, LOG_BLOCK);
		EXPECT_EQ(ENOENT, ask_often(self->trid, ASKED));
		EXPECT_EQ(ENOENT, program(self->trid, 5 + i));
		write_rest(self);
		/* The reader has given up until the writer ends its flush. */
		write_status(self, i == 2 ? POSIXTRACE_LOG_END_FINAL : 0);
		EXPECT_EQ(0, program(self->trid, 5 + i));
	}
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
}

/* The reader finds blocks after damage, even if it has already looked there often. */
TEST_F(row, damage_after_many_reads)
{
	EXPECT_EQ(ENOENT, ask_often(self->trid, ASKED));
	add_program(self, 5);
	self->at += 8;
	write_rest(self);
	add_program(self, 6);
	write_rest(self);
	write_status(self, 0);
	EXPECT_EQ(0, program(self->trid, 6));
	EXPECT_EQ(ENOENT, program(self->trid, 5));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(POSIXTRACE_LOG_DAMAGED, self->info.flags);
}

TEST_HARNESS_MAIN
