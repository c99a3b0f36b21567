// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_seek(), with and without the index at the end of a log. The index may be damaged, cut
 * off or forged. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pxt_test.h"
#include "log_reading.h"

#define CPUS		3
#define PER_BLOCK	20
#define EPOCHS		40
#define PER_EPOCH	(CPUS * PER_BLOCK)
#define EVENTS		(EPOCHS * PER_EPOCH)

static int seek_to(trace_id_t trid, __u64 time)
{
	const struct timespec at = {
		.tv_sec = (LOG_TIME0 + time) / 1000000000,
		.tv_nsec = (LOG_TIME0 + time) % 1000000000,
	};

	return posixtrace_seek(trid, &at);
}

/* The events that were read from a certain time on. */
struct rest {
	unsigned int events;	/* events of all types at or after that time */
	unsigned int read;	/* events that were read, including older ones */
	__u64 hash;		/* hash of the types and times of @events */
	bool wrong;		/* a user event has wrong data or order, or reading failed */
};

static void read_rest(trace_id_t trid, __u64 time, struct rest *rest)
{
	struct log_sum sum = { 0 };
	struct event event;
	int ret;

	memset(rest, 0, sizeof(*rest));
	while ((ret = log_take(trid, &event)) > 0) {
		rest->read++;
		log_count(&sum, &event);
		if (event_time(&event) < LOG_TIME0 + time)
			continue;
		rest->events++;
		rest->hash = rest->hash * 31 + event_time(&event) * 7 +
			     event.info.posix_event_id;
	}
	rest->wrong = ret || sum.wrong || sum.disorder;
}

/* Reads a log, after seeking to @time if @seek is set. Always counts the events from @time on. */
static bool read_bytes(const void *bytes, size_t len, __u64 time, bool seek, struct rest *rest)
{
	int fd = log_bytes_file(bytes, len), err;
	trace_id_t trid;

	if (fd < 0 || posix_trace_open(fd, &trid))
		return false;
	err = seek ? seek_to(trid, time) : 0;
	read_rest(trid, time, rest);
	posix_trace_close(trid);
	close(fd);
	return !err && !rest->wrong;
}

/* Returns true if seeking to a time gives exactly the events from that time on. */
static bool same_from(const struct log_writer *log, size_t len, __u64 time)
{
	struct rest whole = { 0 }, rest = { 0 };

	if (read_bytes(log->data, len, time, false, &whole) &&
	    read_bytes(log->data, len, time, true, &rest) &&
	    rest.events == whole.events && rest.hash == whole.hash && rest.read <= whole.read)
		return true;
	printf("# %zu bytes, from %llu: %u events, not %u\n", len, (unsigned long long)time,
	       rest.events, whole.events);
	return false;
}

FIXTURE(index)
{
	struct log_writer log;
	size_t at;
};

FIXTURE_VARIANT(index)
{
	int log_policy;
	size_t ring;
	size_t piece;
};

FIXTURE_VARIANT_ADD(index, append) { POSIX_TRACE_APPEND, 0, 0 };
FIXTURE_VARIANT_ADD(index, compressed) { POSIX_TRACE_APPEND, 0, 512 };
FIXTURE_VARIANT_ADD(index, loop) { POSIX_TRACE_LOOP, 128 << 10, 0 };
/* The ring holds the last third of the events, in two laps. */
FIXTURE_VARIANT_ADD(index, overwritten) { POSIX_TRACE_LOOP, 36000, 0 };

FIXTURE_SETUP(index)
{
	struct log_writer *log = &self->log;

	log_begin(log, variant->log_policy, POSIX_TRACE_LOOP, CPUS, variant->ring);
	log->piece = variant->piece;
	log_host(log, "host");
	log_name(log, LOG_FIRST_NAMED, "before");
	log_epochs(log, 0, EPOCHS / 2, PER_BLOCK);
	log_name(log, LOG_FIRST_NAMED + 1, "between");
	log_task(log, 4711, 4712, LOG_TIME0, "worker");
	log_epochs(log, EVENTS / 2, EPOCHS / 2, PER_BLOCK);
	self->at = log_index(log);
	log_end(log, POSIXTRACE_LOG_END_FINAL);
}

FIXTURE_TEARDOWN(index)
{
	log_free(&self->log);
}

TEST_F(index, seek_gives_what_is_in_the_log_from_then_on)
{
	for (__u64 time = 0; time < EVENTS + 10; time += 7)
		ASSERT_TRUE(same_from(&self->log, self->log.len, time));
}

/* The reader reads two epochs before the time, and the rest of a third one. */
TEST_F(index, seek_skips_older_blocks)
{
	struct rest rest;

	ASSERT_TRUE(read_bytes(self->log.data, self->log.len, EVENTS - 1, true, &rest));
	EXPECT_EQ(1, rest.events);
	EXPECT_GE(5 * PER_EPOCH, rest.read);
	ASSERT_TRUE(read_bytes(self->log.data, self->log.len, EVENTS + 1000, true, &rest));
	EXPECT_EQ(0, rest.events);
	EXPECT_GE(5 * PER_EPOCH, rest.read);
}

/*
 * Before the stream ends, the log has no index, but the headers of the blocks have the same
 * information.
 */
TEST_F(index, seek_skips_without_an_index)
{
	struct log_writer *log = &self->log;
	struct rest rest;

	log_free(log);
	log_begin(log, variant->log_policy, POSIX_TRACE_LOOP, CPUS, variant->ring);
	log->piece = variant->piece;
	log_epochs(log, 0, EPOCHS, PER_BLOCK);
	for (__u64 time = 0; time < EVENTS; time += 37)
		ASSERT_TRUE(same_from(log, log->len, time));
	ASSERT_TRUE(read_bytes(log->data, log->len, EVENTS - 1, true, &rest));
	EXPECT_GE(5 * PER_EPOCH, rest.read);
}

/*
 * Names that were written before the time still apply. The reader must find them without reading
 * all blocks in between.
 */
TEST_F(index, names_from_skipped_parts)
{
	const struct timespec time = { .tv_sec = (LOG_TIME0 + EVENTS) / 1000000000,
				       .tv_nsec = (LOG_TIME0 + EVENTS) % 1000000000 };
	char text[TRACE_EVENT_NAME_MAX + 1], name[POSIXTRACE_THREAD_NAME_SIZE];
	struct posixtrace_host_info host;
	trace_id_t trid;

	ASSERT_EQ(0, log_open(&self->log, &trid));
	ASSERT_EQ(0, seek_to(trid, EVENTS - 1));
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED, text));
	EXPECT_STREQ("before", text);
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED + 1, text));
	EXPECT_STREQ("between", text);
	EXPECT_EQ(0, posixtrace_get_thread_name(trid, 4711, 4712, &time, name));
	EXPECT_STREQ("worker", name);
	EXPECT_EQ(0, posixtrace_get_host(trid, &host));
	EXPECT_STREQ("host", host.node);
	posix_trace_close(trid);
}

static bool damaged(trace_id_t trid)
{
	struct posixtrace_log_info info;

	return posixtrace_get_log_info(trid, &info) || info.flags & POSIXTRACE_LOG_DAMAGED;
}

/* The damage of a block in the middle is found only by reading all headers. */
TEST_F(index, skipped_headers_are_not_read)
{
	struct log_writer *log = &self->log;
	trace_id_t trid;

	log->data[log->mark[log->nr_marks - 9].offset + 40] ^= 1;
	ASSERT_EQ(0, log_open(log, &trid));
	ASSERT_EQ(0, seek_to(trid, EVENTS - 1));
	EXPECT_FALSE(damaged(trid));
	EXPECT_EQ(0, posix_trace_rewind(trid));
	EXPECT_TRUE(damaged(trid));
	posix_trace_close(trid);
}

/* Damages each byte of the index and of its header. In a LOOP log, the status is elsewhere. */
TEST_F(index, damaged_index)
{
	struct log_writer *log = &self->log;
	const size_t end = self->at + LOG_BLOCK + log->nr_marks * sizeof(log->mark[0]);

	for (size_t at = self->at; at < end; at++) {
		log->data[at] ^= 0x55;
		ASSERT_TRUE(same_from(log, log->len, EVENTS - PER_EPOCH)) TH_LOG("byte %zu", at);
		log->data[at] ^= 0x55;
	}
}

/* Replaces the contents of the index, and makes its checksums valid. */
static void lie(struct log_writer *log, size_t at)
{
	memcpy(log->data + at + LOG_BLOCK, log->mark, log->nr_marks * sizeof(log->mark[0]));
	memcpy(&log->block, log->data + at, sizeof(log->block));
	log->block.payload_crc = log_crc(log->mark, log->nr_marks * sizeof(log->mark[0]));
	log_block_header(log, at);
}

/* Whatever the marks say, seeking to a time gives all events from then on, and no others. */
TEST_F(index, forged_marks)
{
	static const __u64 lies[] = { 0, 1, 8, 512, 1ULL << 40, ~0ULL, INT64_MAX, LOG_TIME0 };
	struct log_writer *log = &self->log;
	const size_t words = log->nr_marks * sizeof(log->mark[0]) / 8;
	__u64 *word = (__u64 *)log->mark, truth;
	struct rest rest;

	for (size_t i = 0; i < words; i += 3) {
		truth = word[i];
		for (size_t j = 0; j < sizeof(lies) / sizeof(lies[0]); j++) {
			word[i] = lies[j];
			lie(log, self->at);
			ASSERT_TRUE(same_from(log, log->len, EVENTS / 10 * 9))
				TH_LOG("word %zu is %llu", i, lies[j]);
		}
		word[i] = truth;
	}
	/* Let each mark name another block of the log. */
	for (size_t i = 0; i + 1 < log->nr_marks; i++)
		log->mark[i] = log->mark[i + 1];
	lie(log, self->at);
	for (__u64 time = 0; time < EVENTS; time += 61)
		ASSERT_TRUE(same_from(log, log->len, time));
	/* Let all marks name the newest block, as if all other blocks were older than any time. */
	for (size_t i = 0; i < log->nr_marks; i++)
		log->mark[i] = log->newest;
	lie(log, self->at);
	ASSERT_TRUE(same_from(log, log->len, EVENTS / 2));
	ASSERT_TRUE(read_bytes(log->data, log->len, EVENTS / 2, true, &rest));
	EXPECT_LE(EVENTS / 10, rest.events);
}

/* Wherever the log is cut, seeking skips no event at or after the time. */
TEST_F(index, cut_at_any_byte)
{
	struct log_writer *log = &self->log;

	size_t len = log->header.data_offset;

	while (len < log->len) {
		ASSERT_TRUE(same_from(log, len, EVENTS / 2)) TH_LOG("%zu bytes", len);
		len += len % 5 + (len < self->at && variant->ring ? 1997 : 97);
	}
}

/* Gaps before, in and after the part that is read. */
TEST_F(index, gaps)
{
	struct log_writer *log = &self->log;

	log_free(log);
	log_begin(log, variant->log_policy, POSIX_TRACE_FLUSH, CPUS, variant->ring);
	log->piece = variant->piece;
	for (int i = 0; i < EPOCHS; i++) {
		log_epochs(log, i * PER_EPOCH, 1, PER_BLOCK);
		if (i % 7 == 3) {
			log->gap_generation++;
			log->gap_first = LOG_TIME0 + (i + 1) * PER_EPOCH - 1;
			log->lost += i;
		}
	}
	log_index(log);
	log_end(log, POSIXTRACE_LOG_END_FINAL);
	for (__u64 time = 0; time < EVENTS; time += 11)
		ASSERT_TRUE(same_from(log, log->len, time));
}

/* Events before a RESET must not reappear. */
TEST(index_after_a_reset)
{
	struct log_writer log;
	trace_id_t trid;
	struct rest rest;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, CPUS, 0);
	log_epochs(&log, 0, 10, PER_BLOCK);
	log_reset(&log);
	log_epochs(&log, 10 * PER_EPOCH, 10, PER_BLOCK);
	log_index(&log);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&log, &trid));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, seek_to(trid, i * PER_EPOCH));
		read_rest(trid, 0, &rest);
		EXPECT_GE(10 * PER_EPOCH, rest.read);
		EXPECT_LE((i < 10 ? 10 : 20 - i) * PER_EPOCH, rest.read);
	}
	posix_trace_close(trid);
	log_free(&log);
}

/* Seeks forward and back, and rewinds, all with the same trace id. */
TEST_F(index, any_order_of_times)
{
	static const int times[] = { EVENTS - 1, 0, EVENTS / 2, EVENTS / 2, EVENTS, 1 };
	struct rest want, rest;
	trace_id_t trid;

	ASSERT_EQ(0, log_open(&self->log, &trid));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		ASSERT_EQ(0, posix_trace_rewind(trid));
		read_rest(trid, times[i], &want);
		ASSERT_EQ(0, seek_to(trid, times[i]));
		read_rest(trid, times[i], &rest);
		EXPECT_FALSE(rest.wrong);
		EXPECT_EQ(want.events, rest.events);
		EXPECT_EQ(want.hash, rest.hash);
	}
	posix_trace_close(trid);
}

TEST_F(index, wrong_arguments)
{
	struct timespec time = { .tv_nsec = 1000000000 };
	trace_id_t trid;

	ASSERT_EQ(0, log_open(&self->log, &trid));
	EXPECT_EQ(EINVAL, posixtrace_seek(trid, NULL));
	EXPECT_EQ(EINVAL, posixtrace_seek(trid, &time));
	time.tv_nsec = -1;
	EXPECT_EQ(EINVAL, posixtrace_seek(trid, &time));
	time.tv_nsec = 999999999;
	EXPECT_EQ(0, posixtrace_seek(trid, &time));
	time.tv_sec = -1;
	EXPECT_EQ(EINVAL, posixtrace_seek(trid, &time));
	time.tv_sec = sizeof(time.tv_sec) == 8 ? INT64_MAX : INT32_MAX;
	EXPECT_EQ(0, posixtrace_seek(trid, &time));
	posix_trace_close(trid);
	EXPECT_EQ(EINVAL, posixtrace_seek(trid, &time));
}

TEST_HARNESS_MAIN
