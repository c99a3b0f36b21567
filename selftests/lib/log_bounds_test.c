// SPDX-License-Identifier: GPL-2.0
/*
 * For any contents of a log, the time and the memory to read it are bounded. Needs no
 * module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
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

/* Limits the process to @more further bytes. Valgrind itself needs an unknown amount. */
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
	/* As a writer leaves it, and then with a size that would make the reader search. */
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

/* Large blocks of many CPUs with the same time: they do not fit into memory together. */
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

	/* A block has one record; the rest is zero, and a hole in the file. */
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

/* An epoch with more blocks than the reader indexes: they are reported, but not lost. */
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

/* The same number of blocks in many epochs is an ordinary log. */
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
	/* Together, the reader's buffers are much larger than the limit. */
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

TEST_HARNESS_MAIN
