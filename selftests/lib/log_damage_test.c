// SPDX-License-Identifier: GPL-2.0
/*
 * Logs that were truncated, damaged or forged. Intact parts must be read as usual, and damaged
 * parts must be reported. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <fcntl.h>
#include <stddef.h>

#include "pxt_test.h"
#include "log_reading.h"

#define CPUS		3
#define BLOCKS_MAX	64

/* A log with blocks of all kinds, and their offsets. */
struct sample {
	struct log_writer log;
	size_t at[BLOCKS_MAX];
	struct posixtrace_log_block block[BLOCKS_MAX];
	int nr_blocks;
	struct log_sum whole;
};

static void note(struct sample *sample, size_t at)
{
	sample->at[sample->nr_blocks] = at;
	sample->block[sample->nr_blocks++] = sample->log.block;
}

static size_t block_end(const struct sample *sample, int i)
{
	return sample->at[i] + LOG_BLOCK + sample->block[i].size;
}

static void make_sample(struct sample *sample, int epochs, int per_block)
{
	struct log_writer *log = &sample->log;
	trace_event_set_t set = { 0 };
	char name[16];
	__u64 time = 10;

	memset(sample, 0, sizeof(*sample));
	log_begin(log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	for (int e = 0; e < epochs; e++) {
		snprintf(name, sizeof(name), "event %d", e);
		note(sample, log_name(log, LOG_FIRST_NAMED + e, name));
		for (__u32 cpu = 0; cpu < CPUS; cpu++) {
			log_block_begin(log, POSIXTRACE_LOG_EVENTS, cpu);
			for (int i = 0; i < per_block; i++) {
				__u64 t = time + i * CPUS + cpu;

				log_event_id(log, LOG_FIRST_NAMED + e, t, &t, sizeof(t));
			}
			note(sample, log_block_end(log));
		}
		log_block_begin(log, POSIXTRACE_LOG_EVENTS, CPUS);
		log_event_id(log, POSIX_TRACE_FLUSH_START, time, NULL, 0);
		log_event_id(log, POSIX_TRACE_FILTER, time + 1, &set, sizeof(set));
		note(sample, log_block_end(log));
		time += per_block * CPUS;
		log->epoch++;
	}
	note(sample, log_end(log, POSIXTRACE_LOG_END_FINAL));
	log_sum_log(log, &sample->whole);
}

FIXTURE(damage)
{
	struct sample sample;
};

FIXTURE_SETUP(damage)
{
	make_sample(&self->sample, 4, 10);
	ASSERT_EQ(0, self->sample.whole.err);
	ASSERT_EQ(0, self->sample.whole.errors);
	ASSERT_EQ(4 * 10 * CPUS, self->sample.whole.events);
	ASSERT_EQ(8, self->sample.whole.others);
	ASSERT_EQ(POSIX_TRACE_NO_OVERRUN, self->sample.whole.status.posix_log_overrun_status);
}

FIXTURE_TEARDOWN(damage)
{
	log_free(&self->sample.log);
}

static void overwrite(int fd, const void *data, size_t len, size_t at)
{
	if (pwrite(fd, data, len, at) != (ssize_t)len)
		abort();
}

/* ------------------------------------------------------------------ */
/* Truncated								*/

TEST_F(damage, truncated_at_every_byte)
{
	struct sample *sample = &self->sample;
	struct log_sum sum;
	size_t len;
	int fd;

	fd = log_file(&sample->log);
	for (len = sample->log.len - 1; len >= LOG_HEADER; len--) {
		unsigned int events = 0, others = 0;

		ASSERT_EQ(0, ftruncate(fd, len));
		log_sum_fd(fd, &sum);
		for (int i = 0; i < sample->nr_blocks && block_end(sample, i) <= len; i++) {
			if (sample->block[i].type != POSIXTRACE_LOG_EVENTS)
				continue;
			if (sample->block[i].cpu == CPUS)
				others += sample->block[i].count;
			else
				events += sample->block[i].count;
		}
		ASSERT_EQ(0, sum.err);
		ASSERT_EQ(events, sum.events);
		ASSERT_EQ(others, sum.others);
		ASSERT_EQ(0, sum.errors);
		ASSERT_EQ(0, sum.wrong);
		ASSERT_EQ(0, sum.disorder);
		ASSERT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
		ASSERT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_stream_overrun_status);
	}
	close(fd);
}

/* As after a power failure: the file has its new size, but the data was not written. */
TEST_F(damage, zeros_instead_of_the_end)
{
	struct sample *sample = &self->sample;
	struct log_sum sum;
	int fd = log_file(&sample->log);

	for (int i = sample->nr_blocks - 1; i > 0; i--) {
		size_t at = sample->at[i] + LOG_BLOCK / 2;

		ASSERT_EQ(0, ftruncate(fd, at));
		ASSERT_EQ(0, ftruncate(fd, sample->log.len + 100000));
		log_sum_fd(fd, &sum);
		EXPECT_EQ(0, sum.err);
		/*
		 * There are two errors if the missing half of the header is zero, because the
		 * header is then valid.
		 */
		EXPECT_LE(1, sum.errors);
		EXPECT_GE(2, sum.errors);
		EXPECT_EQ(0, sum.wrong);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	}
	close(fd);
}

TEST_F(damage, data_after_the_end)
{
	struct log_sum sum;

	log_put(&self->sample.log, self->sample.log.len, "what follows the end is ignored", 31);
	log_sum_log(&self->sample.log, &sum);
	EXPECT_EQ(0, memcmp(&self->sample.whole, &sum, sizeof(sum)));
}

/* ------------------------------------------------------------------ */
/* Flipped bits								*/

/* Flips bits in a byte of a block, and reads the log. Only the events of this block may be lost. */
static void flip(struct __test_metadata *_metadata, const struct sample *sample, int fd, int i,
		 size_t at, unsigned char bits, struct log_sum *sum)
{
	unsigned int lost = sample->block[i].type == POSIXTRACE_LOG_EVENTS ?
			    sample->block[i].count : 0;
	unsigned char byte = sample->log.data[at] ^ bits;

	overwrite(fd, &byte, 1, at);
	log_sum_fd(fd, sum);
	overwrite(fd, &sample->log.data[at], 1, at);
	ASSERT_EQ(0, sum->err);
	ASSERT_EQ(1, sum->errors);
	ASSERT_EQ(sample->whole.events + sample->whole.others - lost, sum->events + sum->others);
	ASSERT_EQ(0, sum->wrong);
	ASSERT_EQ(POSIX_TRACE_OVERRUN, sum->status.posix_log_overrun_status);
}

TEST_F(damage, every_byte_of_every_block_header)
{
	struct sample *sample = &self->sample;
	unsigned int random = 1;
	struct log_sum sum;
	size_t at;
	int fd;

	fd = log_file(&sample->log);
	for (int i = 0; i < sample->nr_blocks; i++) {
		for (at = sample->at[i]; at < sample->at[i] + LOG_BLOCK; at++) {
			random = random * 1103515245 + 12345;
			flip(_metadata, sample, fd, i, at, 1 << (random >> 16) % 8, &sum);
			ASSERT_EQ(0, sum.disorder);
			ASSERT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
		}
	}
	log_sum_fd(fd, &sum);
	EXPECT_EQ(0, memcmp(&sample->whole, &sum, sizeof(sum)));
	close(fd);
}

TEST_F(damage, payloads)
{
	struct sample *sample = &self->sample;
	struct log_sum sum;
	size_t at;
	int fd;

	fd = log_file(&sample->log);
	for (int i = 0; i < sample->nr_blocks; i++)
		for (at = sample->at[i] + LOG_BLOCK; at < block_end(sample, i); at += 3)
			flip(_metadata, sample, fd, i, at, 1 << at % 8, &sum);
	close(fd);
}

/* ERROR must be at the right position among the events, and must have the right data. */
TEST_F(damage, error_is_at_the_place_of_the_damage)
{
	struct sample *sample = &self->sample;
	bool before = true;
	struct event event;
	trace_id_t trid;
	int fd, count = 0, number;

	/* Damage the first block of events of the third epoch: its header, then its payload. */
	for (int k = 0; k < 2; k++) {
		size_t at = sample->at[11] + (k ? LOG_BLOCK : 0);

		ASSERT_EQ(POSIXTRACE_LOG_EVENTS, sample->block[11].type);
		sample->log.data[at] ^= 1;
		fd = log_file(&sample->log);
		ASSERT_EQ(0, posix_trace_open(fd, &trid));
		close(fd);
		for (count = 0, before = true; log_take(trid, &event) == 1; count++) {
			if (event.info.posix_event_id == POSIX_TRACE_ERROR) {
				EXPECT_EQ(sizeof(int), event.len);
				memcpy(&number, event.data, sizeof(number));
				EXPECT_EQ(EIO, number);
				EXPECT_EQ(0, event.info.posix_pid);
				before = false;
				EXPECT_LE(40, log_time(&event));
				EXPECT_GE(100, log_time(&event));
			} else if (before) {
				EXPECT_GE(100, log_time(&event));
			} else {
				EXPECT_LE(40, log_time(&event));
			}
		}
		EXPECT_FALSE(before);
		EXPECT_EQ(0, posix_trace_close(trid));
		sample->log.data[at] ^= 1;
	}
}

/* Overwrites a part of the file: the end of a block, some blocks, and the start of another. */
TEST_F(damage, a_part_is_overwritten)
{
	struct sample *sample = &self->sample;
	unsigned char other[2500];
	struct log_sum sum;
	unsigned int left;
	size_t from, to;
	int fd;

	memset(other, 0xa5, sizeof(other));
	for (from = LOG_HEADER; from < sample->log.len - 3000; from += 177) {
		to = from + sizeof(other);
		left = 0;
		for (int i = 0; i < sample->nr_blocks; i++)
			if (sample->block[i].type == POSIXTRACE_LOG_EVENTS &&
			    (block_end(sample, i) <= from || sample->at[i] >= to))
				left += sample->block[i].count;
		fd = log_file(&sample->log);
		overwrite(fd, other, sizeof(other), from);
		log_sum_fd(fd, &sum);
		close(fd);
		ASSERT_EQ(0, sum.err);
		ASSERT_EQ(left, sum.events + sum.others);
		ASSERT_LE(1, sum.errors);
		ASSERT_GE(2, sum.errors);
		ASSERT_EQ(0, sum.wrong);
		ASSERT_EQ(0, sum.disorder);
	}
}

/* Removes blocks, so that all later blocks move. */
TEST_F(damage, a_part_is_missing)
{
	struct sample *sample = &self->sample;
	size_t from = sample->at[6], to = sample->at[9];
	struct log_sum sum;

	memmove(sample->log.data + from, sample->log.data + to, sample->log.len - to);
	sample->log.len -= to - from;
	log_sum_log(&sample->log, &sum);
	EXPECT_EQ(1, sum.errors);
	EXPECT_EQ(sample->whole.events + sample->whole.others - 10 - 10 - 10,
		  sum.events + sum.others);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
}

/* ------------------------------------------------------------------ */
/* Records of a hostile process, with a valid checksum			*/

static const struct {
	const char *what;
	size_t offset;
	size_t size;
	__u64 value;
	unsigned int good;	/* number of records before the damage is detected */
} records[] = {
/* The third record has time 104 on CPU 0; the first one names the writer. */
#define THIRD	(POSIXTRACE_RECORD_SIZE(8) + POSIXTRACE_RECORD_STEP(8))
#define CASE(at, type, field, size, value, good) { #type "." #field " " #value, \
	(at) + offsetof(struct posixtrace_##type, field), size, value, good }
#define RECORD(field, size, value) CASE(THIRD, record, field, size, value, 2)
	RECORD(data_len, 2, 2000), RECORD(data_len, 2, 0xffff), RECORD(data_len, 2, 0xfff8),
	/* With this wrong length, the next record would start elsewhere. */
	CASE(THIRD, record, data_len, 2, 0, 3), CASE(THIRD, record, data_len, 2, 9, 3),
	RECORD(type, 2, 0), RECORD(type, 2, POSIX_TRACE_STOP), RECORD(type, 2, 63),
	RECORD(type, 2, 0xffff), RECORD(type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, 2)),
	RECORD(type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, 8)),
	RECORD(type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, 9)),
	RECORD(time, 4, (__u32)LOG_TIME0 + 99), RECORD(time, 4, (__u32)LOG_TIME0 + 101),
	RECORD(time, 4, (__u32)LOG_TIME0 + 201),
	CASE(0, writer, time, 8, 0, 0), CASE(0, writer, time, 8, LOG_TIME0 + 101, 0),
	CASE(0, writer, time, 8, ~0ULL, 0),
	{ "a writer followed by an invalid record", THIRD, 8, 0, 2 },
	{ "two writers", sizeof(struct posixtrace_writer), 8, 0, 0 },
	CASE(0, writer, data_len, 2, 1, 0),
	CASE(0, writer, type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_WRITER, 1), 0),
	CASE(0, writer, type, 2, POSIXTRACE_ID_MAX - 1, 0),
};

TEST(invalid_records)
{
	struct log_writer log;
	struct log_sum sum;
	size_t at;

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
		for (__u32 cpu = 0; cpu < 2; cpu++) {
			log_block_begin(&log, POSIXTRACE_LOG_EVENTS, cpu);
			for (__u64 time = 100; time <= 200; time += 2)
				log_event(&log, time + cpu);
			if (!cpu)
				memcpy(log.data + log.at + LOG_BLOCK + records[i].offset,
				       &records[i].value, records[i].size);
			at = log_block_end(&log);
		}
		log_end(&log, POSIXTRACE_LOG_END_FINAL);
		log_sum_log(&log, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(1, sum.errors);
		/*
		 * The reader must return all events of the other CPU, and the events of this CPU
		 * before the damage.
		 */
		EXPECT_EQ(51 + records[i].good, sum.events) {
			TH_LOG("%s", records[i].what);
		}
		EXPECT_EQ(0, sum.disorder);
		EXPECT_GE(records[i].good > 2, sum.wrong);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
		EXPECT_LT(0, at);
		log_free(&log);
	}
}

/*
 * Records that cross the end of the block, and user events in blocks where only the kernel writes.
 */
TEST(misplaced_records)
{
	struct log_writer log;
	struct log_sum sum;
	__u64 data = 0;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 0);
	log_event(&log, 1);
	log_event(&log, 2);
	log_payload(&log, &data, 8);
	log_block_end(&log);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, CPUS);
	log_event_id(&log, POSIX_TRACE_START, 3, NULL, 0);
	log_event(&log, 4);
	log_block_end(&log);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&log, &sum);
	EXPECT_EQ(2, sum.errors);
	EXPECT_EQ(2, sum.events);
	EXPECT_EQ(1, sum.others);
	log_free(&log);
}

/*
 * Blocks whose first record does not name its writer. The writer of another block must not be used.
 */
TEST(records_without_a_writer)
{
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 0);
	log_event(&log, 1);
	log_event(&log, 2);
	log_block_end(&log);
	for (__u32 cpu = 0; cpu <= CPUS; cpu += CPUS) {
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, cpu);
		/* Omit the writer, as in a later record of a block. */
		log.block.count = 1;
		log.before.thread_id = 0x7f0000 + cpu;
		log_event_id(&log, cpu ? POSIX_TRACE_STOP : POSIX_TRACE_UNNAMED_USEREVENT, 3,
			     NULL, 0);
		log_block_end(&log);
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(2, sum.errors);
	EXPECT_EQ(2, sum.events);
	EXPECT_EQ(0, sum.others);
	log_free(&log);
}

/* Only a forged log has an event with more data than the attributes of the stream allow. */
TEST(data_beyond_the_maximum)
{
	static const unsigned char data[LOG_MAX_DATA + 1];
	struct log_writer log;
	struct log_sum sum;

	for (__u32 beyond = 0; beyond <= 1; beyond++) {
		log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 0);
		log_event_id(&log, POSIXTRACE_ID_UNNAMED, 1, data, LOG_MAX_DATA + beyond);
		log_block_end(&log);
		log_end(&log, POSIXTRACE_LOG_END_FINAL);
		log_sum_log(&log, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(beyond, sum.errors);
		EXPECT_EQ(1 - beyond, sum.events);
		log_free(&log);
	}
}

/* The block ends with a writer, or with a part of one. */
TEST(writers_without_a_record)
{
	const struct posixtrace_writer writer = { .pid = 1, .tid = 1 };
	struct log_writer log;
	struct log_sum sum;

	for (size_t len = 8; len <= sizeof(writer) + sizeof(struct posixtrace_record); len += 8) {
		log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 0);
		log_event(&log, 1);
		log_payload(&log, &writer, len < sizeof(writer) ? len : sizeof(writer));
		for (size_t more = sizeof(writer); more < len; more += 8)
			log_payload(&log, "\xff\xff\xff\xff\xff\xff\xff", 8);
		log_block_end(&log);
		log_end(&log, POSIXTRACE_LOG_END_FINAL);
		log_sum_log(&log, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(1, sum.errors);
		EXPECT_EQ(1, sum.events);
		log_free(&log);
	}
}

/* ------------------------------------------------------------------ */
/* Invalid block headers with a valid checksum				*/

static const struct {
	const char *what;
	size_t offset;
	size_t size;
	__u64 value;
} blocks[] = {
#define BLOCK4(field, value) { #field " " #value, \
	offsetof(struct posixtrace_log_block, field), 4, value }
#define BLOCK8(field, value) { #field " " #value, \
	offsetof(struct posixtrace_log_block, field), 8, value }
	BLOCK4(magic, 1), BLOCK8(cookie, 1), BLOCK8(seq, 0), BLOCK8(seq, 1), BLOCK8(seq, ~0ULL),
	BLOCK4(type, 0), BLOCK4(type, POSIXTRACE_LOG_NAMES),
	BLOCK4(type, POSIXTRACE_LOG_RESET), BLOCK4(payload_crc, 1),
	BLOCK4(size, 1), BLOCK4(size, 4), BLOCK4(size, 0xfffffff8),
	BLOCK4(cpu, CPUS + 1), BLOCK4(cpu, ~0U), BLOCK8(opened, ~0ULL), BLOCK8(closed, 1),
};

TEST_F(damage, invalid_headers)
{
	struct sample *sample = &self->sample;
	struct posixtrace_log_block *block = &sample->log.block;
	struct log_sum sum;

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		*block = sample->block[7];
		memcpy((char *)block + blocks[i].offset, &blocks[i].value, blocks[i].size);
		log_block_header(&sample->log, sample->at[7]);
		log_sum_log(&sample->log, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_LE(1, sum.errors);
		EXPECT_GE(2, sum.errors);
		EXPECT_EQ(sample->whole.events - 10, sum.events) {
			TH_LOG("%s", blocks[i].what);
		}
		EXPECT_EQ(0, sum.disorder);
	}
	*block = sample->block[7];
	log_block_header(&sample->log, sample->at[7]);
	log_sum_log(&sample->log, &sum);
	EXPECT_EQ(0, memcmp(&sample->whole, &sum, sizeof(sum)));
}

/* The reader searches for the next block, and finds one with a much higher number. */
TEST_F(damage, block_in_the_data_of_a_damaged_block)
{
	struct sample *sample = &self->sample;
	struct log_sum sum;

	sample->log.block = sample->block[7];
	sample->log.block.seq += 1000;
	sample->log.block.size = 0;
	log_block_header(&sample->log, sample->at[7] + LOG_BLOCK + 48);
	sample->log.data[sample->at[7]] ^= 1;
	log_sum_log(&sample->log, &sum);
	EXPECT_EQ(1, sum.errors);
	EXPECT_EQ(sample->whole.events - 10, sum.events);
}

/* The reader sorts by epoch, but must not lose events if epochs are invalid. */
TEST_F(damage, invalid_epochs)
{
	static const __u64 epochs[] = { 0, 1, 1000, ~0ULL - 1, ~0ULL };
	struct sample *sample = &self->sample;
	struct log_sum sum;

	for (size_t i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		sample->log.block = sample->block[7];
		sample->log.block.epoch = epochs[i];
		log_block_header(&sample->log, sample->at[7]);
		log_sum_log(&sample->log, &sum);
		EXPECT_EQ(0, sum.err);
		EXPECT_EQ(sample->whole.events, sum.events);
	}
}

TEST_F(damage, invalid_names)
{
	static const __u32 ids[] = { 0, 1, 63, 64, POSIXTRACE_ID_MAX, ~0U };
	trace_event_id_t id;
	struct log_writer log;
	trace_id_t trid;
	int unavailable, count;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		log_name(&log, ids[i], "name");
	log_name(&log, 65, "");
	log_name(&log, 66, "the only one");
	log_name(&log, 66, "the same again");
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&log, &trid));
	for (count = -1, unavailable = 0; !unavailable; count++)
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	EXPECT_EQ(10, count);
	EXPECT_EQ(66, id);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* Changed while open							*/

TEST_F(damage, truncated_while_open)
{
	struct sample *sample = &self->sample;
	struct posix_trace_status_info status;
	struct event event;
	trace_id_t trid;
	int fd, n;

	for (size_t len = 0; len < sample->log.len; len += 331) {
		for (int k = 0; k < 100; k += 33) {
			fd = log_file(&sample->log);
			ASSERT_EQ(0, posix_trace_open(fd, &trid));
			for (n = 0; n < k; n++)
				ASSERT_EQ(1, log_take(trid, &event));
			ASSERT_EQ(0, ftruncate(fd, len));
			while (log_take(trid, &event) == 1)
				n++;
			ASSERT_GE(sample->whole.events + sample->whole.others + 16,
				  (unsigned int)n);
			ASSERT_EQ(0, posix_trace_get_status(trid, &status));
			ASSERT_EQ(0, posix_trace_rewind(trid));
			while (log_take(trid, &event) == 1)
				;
			ASSERT_EQ(0, posix_trace_close(trid));
			close(fd);
		}
	}
}

TEST_F(damage, overwritten_while_open)
{
	struct sample *sample = &self->sample;
	unsigned int random = 1;
	struct event event;
	trace_id_t trid;
	int fd, n, ret;

	for (int round = 0; round < 300; round++) {
		fd = log_file(&sample->log);
		ASSERT_EQ(0, posix_trace_open(fd, &trid));
		for (n = 0; (ret = log_take(trid, &event)) == 1; n++) {
			random = random * 1103515245 + 12345;
			overwrite(fd, &random, 4, LOG_HEADER + (random >> 8) %
				  (sample->log.len - LOG_HEADER - 4));
		}
		EXPECT_EQ(0, ret);
		EXPECT_GE(1000, n);
		EXPECT_EQ(0, posix_trace_close(trid));
		close(fd);
	}
}

TEST_HARNESS_MAIN
