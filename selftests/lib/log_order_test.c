// SPDX-License-Identifier: GPL-2.0
/*
 * Undamaged logs: all events must be read in order and unchanged. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>
#include <pthread.h>
#include <stdbool.h>

#include "pxt_test.h"
#include "log_reading.h"

#define CPUS	5

/* Returns true if the log is complete. */
static bool whole(const struct log_sum *sum)
{
	return !sum->err && !sum->errors && !sum->disorder && !sum->wrong &&
	       sum->status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN &&
	       sum->status.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN;
}

FIXTURE(policy)
{
	struct log_writer log;
};

FIXTURE_VARIANT(policy)
{
	int log_policy;
	int stream_policy;
};

FIXTURE_VARIANT_ADD(policy, append) { POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH };
FIXTURE_VARIANT_ADD(policy, until_full) { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_UNTIL_FULL };
FIXTURE_VARIANT_ADD(policy, loop) { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP };

FIXTURE_SETUP(policy)
{
	log_begin(&self->log, variant->log_policy, variant->stream_policy, CPUS,
		  variant->log_policy == POSIX_TRACE_LOOP ? 1 << 20 : 0);
}

FIXTURE_TEARDOWN(policy)
{
	log_free(&self->log);
}

TEST_F(policy, events_of_all_cpus_in_the_order_of_time)
{
	struct log_sum sum;
	__u64 end;

	end = log_epochs(&self->log, 1000, 10, 100);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&self->log, &sum);
	EXPECT_TRUE(whole(&sum));
	EXPECT_EQ(10 * 100 * CPUS, sum.events);
	EXPECT_EQ(1000, sum.first);
	EXPECT_EQ(end - 1, sum.last);
	EXPECT_EQ((1000 + end - 1) * sum.events / 2, sum.sum);
}

/*
 * The CPUs have blocks of very different lengths, with events of the next epoch between their
 * events.
 */
TEST_F(policy, epochs_overlap)
{
	struct log_writer *log = &self->log;
	struct log_sum sum;
	__u64 time;

	/*
	 * Epoch e has times in [100 e, 100 e + 200): the odd ones on CPU e % 5, the even ones on
	 * CPU e + 1.
	 */
	for (__u64 e = 1; e <= 20; e++) {
		log->epoch = e;
		log_block_begin(log, POSIXTRACE_LOG_EVENTS, e % CPUS);
		for (time = 100 * e; time < 100 * e + 200; time++)
			if (time % 2 == e % 2)
				log_event(log, time);
		log_block_end(log);
	}
	log_end(log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(log, &sum);
	EXPECT_TRUE(whole(&sum));
	EXPECT_EQ(20 * 100, sum.events);
}

TEST_F(policy, system_events_are_merged)
{
	static const int ids[] = {
		POSIX_TRACE_START, POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_FILTER,
		POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_STOP, 0,
	};
	struct log_writer *log = &self->log;
	trace_event_set_t sets[2] = { 0 };
	struct event event;
	trace_id_t trid;
	int zero = 0;

	log_block_begin(log, POSIXTRACE_LOG_EVENTS, 2);
	log_event(log, 20);
	log_event(log, 40);
	log_block_end(log);
	log_block_begin(log, POSIXTRACE_LOG_EVENTS, CPUS);
	log_event_id(log, POSIX_TRACE_START, 10, sets, sizeof(sets[0]));
	log_event_id(log, POSIX_TRACE_FILTER, 30, sets, sizeof(sets));
	log_event_id(log, POSIX_TRACE_STOP, 50, &zero, sizeof(zero));
	log_block_end(log);
	log_end(log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(log, &trid));
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(ids[i], log_take_id(trid, &event));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(policy, all_members_of_an_event)
{
	struct record record = {
		.data_len = 3,
		.event_id = 70,
		.flags = POSIXTRACE_RECORD_TRUNCATED,
		.timestamp = 1234567890123456789ULL,
		.prog_address = 0x401234,
		.thread_id = 0x7f0012345678,
		.pid = 815,
		.tid = 816,
	};
	struct event event;
	trace_id_t trid;

	log_name(&self->log, 70, "seventy");
	log_block_begin(&self->log, POSIXTRACE_LOG_EVENTS, 0);
	log_record(&self->log, &record, "abc");
	log_block_end(&self->log);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	ASSERT_EQ(70, log_take_id(trid, &event));
	EXPECT_EQ(815, event.info.posix_pid);
	EXPECT_EQ(0x401234, (unsigned long)event.info.posix_prog_address);
	EXPECT_EQ(0x7f0012345678, event.info.posix_thread_id);
	EXPECT_EQ(1234567890, event.info.posix_timestamp.tv_sec);
	EXPECT_EQ(123456789, event.info.posix_timestamp.tv_nsec);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
	EXPECT_EQ(3, event.len);
	EXPECT_EQ(0, memcmp("abc", event.data, 3));

	ASSERT_EQ(0, posix_trace_rewind(trid));
	memset(event.data, 'x', 4);
	ASSERT_EQ(0, posix_trace_getnext_event(trid, &event.info, event.data, 2, &event.len,
					       &event.unavailable));
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, event.info.posix_truncation_status);
	EXPECT_EQ(2, event.len);
	EXPECT_EQ(0, memcmp("abx", event.data, 3));
	EXPECT_EQ(0, posix_trace_close(trid));
}

/*
 * Records of all lengths, one after the other: packed ones, unpacked ones, and ones that cannot be
 * packed.
 */
TEST_F(policy, packed_records)
{
	unsigned char data[100];
	struct event event;
	trace_id_t trid;

	for (unsigned int n = 0; n < 300; n++) {
		struct record record = {
			.data_len = n % 101,
			.event_id = POSIXTRACE_ID_UNNAMED,
			.flags = n % 5 && POSIXTRACE_RECORD_PACKS(n % 101) ?
				 POSIXTRACE_RECORD_PACKED : 0,
			.timestamp = LOG_TIME0 + n,
			.prog_address = mixed_address(n),
		};

		if (n % 20 == 0)
			log_block_begin(&self->log, POSIXTRACE_LOG_EVENTS, 0);
		memset(data, (int)n, sizeof(data));
		log_record(&self->log, &record, data);
		if (n % 20 == 19)
			log_block_end(&self->log);
	}
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	for (unsigned int n = 0; n < 300; n++) {
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, log_take_id(trid, &event));
		EXPECT_EQ(mixed_address(n), (uintptr_t)event.info.posix_prog_address);
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
		ASSERT_EQ(n % 101, event.len);
		memset(data, (int)n, sizeof(data));
		EXPECT_EQ(0, memcmp(data, event.data, event.len));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
}

/* Adds an event with a call stack between two other events to the current block. */
static void put_stacked(struct log_writer *log, __u64 time, __u32 size, __u32 claimed)
{
	const struct posixtrace_stack stack = { .size = claimed, .kind = 4711 };
	static const char zeros[POSIXTRACE_STACK_SIZE_MAX];
	struct record record = {
		.data_len = 3,
		.event_id = POSIXTRACE_ID_UNNAMED,
		.flags = POSIXTRACE_RECORD_STACK,
		.timestamp = LOG_TIME0 + time + 1,
	};
	char header[48];

	log_event(log, time);
	log_payload(log, header, record_format(&record, &log->before, header));
	log_payload(log, &stack, sizeof(stack));
	log_payload(log, "abc\0\0\0\0", 8);
	log_payload(log, zeros, size);
	log->before = record;
	log->block.count++;
	log_event(log, time + 2);
}

/* No writer records call stacks yet. */
TEST_F(policy, call_stacks_are_skipped)
{
	const __u32 sizes[] = { 0, 8, 1024, POSIXTRACE_STACK_SIZE_MAX };
	struct event event;
	trace_id_t trid;

	self->log.header.subbuf_size = 64 << 10;
	log_header(&self->log);
	for (unsigned int i = 0; i < 8; i++) {
		log_block_begin(&self->log, POSIXTRACE_LOG_EVENTS, 0);
		put_stacked(&self->log, 10 * i, sizes[i % 4], sizes[i % 4]);
		log_block_end(&self->log);
	}
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	for (unsigned int i = 0; i < 8; i++) {
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, log_take_id(trid, &event));
		EXPECT_EQ(8, event.len);
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, log_take_id(trid, &event));
		EXPECT_EQ(3, event.len);
		EXPECT_EQ(0, memcmp("abc", event.data, 3));
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, log_take_id(trid, &event));
		EXPECT_EQ(8, event.len);
	}
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(policy, call_stack_of_impossible_size_is_damage)
{
	const __u32 claimed[] = { 12, POSIXTRACE_STACK_SIZE_MAX + 8, 4096 };
	struct event event;
	trace_id_t trid;

	for (int i = 0; i < 3; i++) {
		log_block_begin(&self->log, POSIXTRACE_LOG_EVENTS, 0);
		put_stacked(&self->log, 10 * i, 16, claimed[i]);
		log_block_end(&self->log);
	}
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, log_take_id(trid, &event));
		EXPECT_EQ(POSIX_TRACE_ERROR, log_take_id(trid, &event));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(policy, types_and_names)
{
	struct log_writer *log = &self->log;
	char name[TRACE_EVENT_NAME_MAX + 1], text[32];
	trace_event_id_t id;
	int unavailable;
	trace_id_t trid;

	/* Write more than one block of names, with events between the names. */
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "type number %d", i);
		log_name(log, LOG_FIRST_NAMED + 299 - i, text);
		if (i % 50 == 0)
			log_epochs(log, 1000 + 100 * i, 1, 10);
	}
	log_end(log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(log, &trid));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 9; i++) {
			ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id,
									  &unavailable));
			ASSERT_EQ(0, unavailable);
			EXPECT_EQ(i < 8 ? i + 1 : 64, (int)id);
		}
		for (int i = 0; i < 300; i++) {
			ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id,
									  &unavailable));
			ASSERT_EQ(0, unavailable);
			EXPECT_EQ(LOG_FIRST_NAMED + 299 - i, id);
			snprintf(text, sizeof(text), "type number %d", i);
			ASSERT_EQ(0, posix_trace_eventid_get_name(trid, id, name));
			EXPECT_STREQ(text, name);
		}
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
		EXPECT_NE(0, unavailable);
		ASSERT_EQ(0, posix_trace_eventtypelist_rewind(trid));
	}
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, POSIX_TRACE_STOP, name));
	EXPECT_STREQ("posix_trace_stop", name);
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED + 300, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, 9, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, ~0U, name));
	EXPECT_EQ(1, posix_trace_eventid_equal(trid, 70, 70));
	EXPECT_EQ(0, posix_trace_eventid_equal(trid, 70, 71));
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(0, posix_trace_eventid_equal(trid, 70, 70));
}

TEST_F(policy, largest_number_of_names)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct log_writer *log = &self->log;
	trace_event_id_t id;
	int unavailable = 0;
	trace_id_t trid;
	int count = -1;

	memset(name, 'n', sizeof(name));
	for (int i = LOG_FIRST_NAMED; i < POSIXTRACE_ID_MAX; i++) {
		snprintf(name + 50, 14, "%d", i);
		log_name(log, i, name);
	}
	log_end(log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(log, &trid));
	for (; !unavailable; count++)
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	EXPECT_EQ(8 + POSIXTRACE_ID_MAX - POSIXTRACE_ID_UNNAMED, count);
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(policy, attributes)
{
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	trace_id_t trid;
	size_t size;
	int policy;

	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &attr));
	EXPECT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("of a test", name);
	EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&attr, &policy));
	EXPECT_EQ(variant->log_policy, policy);
	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT_EQ(variant->stream_policy, policy);
	EXPECT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(LOG_MAX_DATA, size);
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(policy, no_event)
{
	struct log_sum sum;

	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&self->log, &sum);
	EXPECT_TRUE(whole(&sum));
	EXPECT_EQ(0, sum.events);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, sum.status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, sum.status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, sum.status.posix_stream_flush_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, sum.status.posix_log_full_status);
	EXPECT_EQ(0, sum.status.posix_stream_flush_error);
}

TEST_F(policy, status_as_written)
{
	struct log_sum sum;

	self->log.end.error = ENOSPC;
	self->log.end.lost = 12;
	log_epochs(&self->log, 1, 1, 10);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_FULL);
	log_sum_log(&self->log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(ENOSPC, sum.status.posix_stream_flush_error);
	EXPECT_EQ(POSIX_TRACE_FULL, sum.status.posix_log_full_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
	/* Reading the status of a completed log does not change it. */
	log_sum_log(&self->log, &sum);
	EXPECT_EQ(ENOSPC, sum.status.posix_stream_flush_error);
}

TEST_F(policy, events_lost_in_the_stream_are_not_lost_in_the_log)
{
	struct log_sum sum;

	self->log.end.lost = 12;
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&self->log, &sum);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_stream_overrun_status);
}

TEST_F(policy, rewind_from_any_position)
{
	struct log_sum all, again;
	struct event event;
	trace_id_t trid;

	log_epochs(&self->log, 1, 3, 50);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	log_sum_rest(trid, &all);
	for (int i = 0; i < 3 * 50 * CPUS; i += 37) {
		ASSERT_EQ(0, posix_trace_rewind(trid));
		for (int k = 0; k < i; k++)
			ASSERT_EQ(1, log_take(trid, &event));
		ASSERT_EQ(0, posix_trace_rewind(trid));
		log_sum_rest(trid, &again);
		EXPECT_EQ(0, memcmp(&all, &again, sizeof(all)));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(policy, batches)
{
	struct posixtrace_batch_event events[40];
	unsigned char buffer[300];
	struct event event;
	trace_id_t trid;
	size_t count, total = 0;

	log_epochs(&self->log, 0, 3, 50);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &trid));
	for (;;) {
		ASSERT_EQ(0, posixtrace_getevents(trid, events, 40, buffer, sizeof(buffer),
						  &count, 0));
		if (!count)
			break;
		/*
		 * The buffer has space for 37 events with 8 bytes of data. Each event must be
		 * returned once.
		 */
		EXPECT_GE(37, count);
		for (size_t i = 0; i < count; i++) {
			ASSERT_EQ(8, events[i].data_len);
			ASSERT_EQ(total + i, *(__u64 *)events[i].data);
		}
		total += count;
	}
	EXPECT_EQ(3 * 50 * CPUS, total);
	EXPECT_EQ(0, log_take(trid, &event));
	EXPECT_EQ(0, posix_trace_close(trid));
}

/* ------------------------------------------------------------------ */
/* Sizes								*/

/*
 * The largest records in the largest sub-buffers. They are larger than a single read of the reader.
 */
TEST(large_records)
{
	static unsigned char data[POSIXTRACE_DATA_SIZE_MAX], got[POSIXTRACE_DATA_SIZE_MAX];
	struct posix_trace_event_info info;
	struct log_writer log;
	trace_id_t trid;
	int unavailable;
	size_t len;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log.header.subbuf_size = POSIXTRACE_SUBBUF_SIZE_MAX;
	log.header.attr.max_data_size = sizeof(data);
	log_header(&log);
	for (__u32 cpu = 0; cpu < 2; cpu++) {
		log_block_begin(&log, POSIXTRACE_LOG_EVENTS, cpu);
		for (int i = 0; i < 8; i++) {
			memset(data, 2 * i + cpu, sizeof(data));
			log_event_id(&log, 64, 2 * i + cpu, data, sizeof(data) - i);
		}
		log_block_end(&log);
	}
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&log, &trid));
	for (int i = 0; i < 16; i++) {
		ASSERT_EQ(0, posix_trace_getnext_event(trid, &info, got, sizeof(got), &len,
						       &unavailable));
		ASSERT_EQ(0, unavailable);
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, info.posix_event_id);
		ASSERT_EQ(sizeof(got) - i / 2, len);
		memset(data, i, sizeof(data));
		ASSERT_EQ(0, memcmp(data, got, len));
	}
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

/* Larger headers belong to a newer version that this reader supports. */
TEST(larger_headers)
{
	unsigned char data[4096 + 16384] = { 0 };
	struct posixtrace_log_header header;
	struct posixtrace_log_block block;
	struct log_writer log;
	struct log_sum sum;
	size_t at, to;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&log, 1, 2, 10);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	header = log.header;
	header.size = 1024;
	header.block_size = LOG_BLOCK + 64;
	header.data_offset = 2048;
	for (at = LOG_HEADER, to = 2048; at < log.len;) {
		memcpy(&block, log.data + at, sizeof(block));
		block.crc = 0;
		memset(data + to, 0xab, LOG_BLOCK + 64);
		memcpy(data + to, &block, sizeof(block));
		block.crc = log_crc(data + to, LOG_BLOCK + 64);
		memcpy(data + to, &block, sizeof(block));
		memcpy(data + to + LOG_BLOCK + 64, log.data + at + LOG_BLOCK, block.size);
		at += LOG_BLOCK + block.size;
		to += LOG_BLOCK + 64 + block.size;
	}
	memset(data + sizeof(header), 0xcd, 1024 - sizeof(header));
	header.crc = 0;
	memcpy(data, &header, sizeof(header));
	header.crc = log_crc(data, 1024);
	memcpy(data, &header, sizeof(header));
	log_sum_bytes(data, to, &sum);
	EXPECT_TRUE(whole(&sum));
	EXPECT_EQ(40, sum.events);
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* Concurrent readers							*/

#define OPENS	20

TEST(several_opens_of_one_descriptor)
{
	trace_id_t trid[OPENS];
	struct log_writer log;
	struct event event;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	log_epochs(&log, 0, 2, 50);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	fd = log_file(&log);
	ASSERT_EQ(7, lseek(fd, 7, SEEK_SET));
	for (int i = 0; i < OPENS; i++)
		ASSERT_EQ(0, posix_trace_open(fd, &trid[i]));
	/* Each trace id has its own position. */
	for (int n = 0; n < OPENS; n++) {
		for (int i = n; i < OPENS; i++) {
			ASSERT_EQ(1, log_take(trid[i], &event));
			EXPECT_EQ((__u64)n, log_time(&event));
		}
		ASSERT_EQ(0, posix_trace_close(trid[n]));
	}
	EXPECT_EQ(7, lseek(fd, 0, SEEK_CUR));
	close(fd);
	log_free(&log);
}

struct share {
	trace_id_t trid;
	unsigned int events;
	__u64 sum;
	int err;
};

static void *read_share(void *arg)
{
	struct posix_trace_status_info status;
	struct share *share = arg;
	struct event event;
	int ret;

	while ((ret = log_take(share->trid, &event)) == 1) {
		share->events++;
		share->sum += log_time(&event);
		if (share->events % 64 == 0 && posix_trace_get_status(share->trid, &status))
			share->err = EINVAL;
	}
	if (ret)
		share->err = -ret;
	return NULL;
}

TEST(threads_share_one_trace_id)
{
	struct share share[4] = { 0 };
	unsigned int events = 0;
	pthread_t thread[4];
	struct log_writer log;
	__u64 end, sum = 0;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	end = log_epochs(&log, 0, 40, 100);
	ASSERT_EQ(0, log_open(&log, &trid));
	for (int i = 0; i < 4; i++) {
		share[i].trid = trid;
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, read_share, &share[i]));
	}
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
		EXPECT_EQ(0, share[i].err);
		events += share[i].events;
		sum += share[i].sum;
	}
	EXPECT_EQ(end, events);
	EXPECT_EQ(end * (end - 1) / 2, sum);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

static void *read_until_closed(void *arg)
{
	struct event event;
	trace_id_t trid = *(trace_id_t *)arg;
	int ret;

	do {
		ret = log_take(trid, &event);
		if (!ret)
			ret = -posix_trace_rewind(trid);
	} while (ret >= 0);
	return ret == -EINVAL ? NULL : arg;
}

TEST(closed_while_others_read)
{
	struct log_writer log;
	pthread_t thread[3];
	trace_id_t trid;
	void *failed;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	log_epochs(&log, 0, 2, 50);
	for (int round = 0; round < 20; round++) {
		ASSERT_EQ(0, log_open(&log, &trid));
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, read_until_closed,
						    &trid));
		EXPECT_EQ(0, posix_trace_close(trid));
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, pthread_join(thread[i], &failed));
			EXPECT_EQ(NULL, failed);
		}
	}
	log_free(&log);
}

TEST_HARNESS_MAIN
