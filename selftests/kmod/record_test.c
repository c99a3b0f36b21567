// SPDX-License-Identifier: GPL-2.0
/*
 * EVENT: how the module stores an event in the sub-buffers, and which calls do not record.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"
#include "writer.h"

static void near_the_program(void)
{
}

FIXTURE(record)
{
	struct stream stream;
	struct target target;
	int id;
};

FIXTURE_SETUP(record)
{
	struct record start;

	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	self->id = eventid_open(self->target.fd, "record");
	ASSERT_LT(POSIXTRACE_ID_UNNAMED, self->id);
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &start, NULL, 0));
}

FIXTURE_TEARDOWN(record)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(record, carries_the_arguments_of_the_caller)
{
	struct record record;
	char data[32] = "";

	ASSERT_EQ(0, target_event(&self->target, self->id, "hello", 6));
	ASSERT_EQ(1, stream_take(&self->stream, &record, data, sizeof(data)));
	EXPECT_EQ(self->id, record.event_id);
	EXPECT_EQ(6, record.data_len);
	EXPECT_STREQ("hello", data);
	EXPECT_EQ(0, record.flags);
	EXPECT_EQ(0xabcd, record.prog_address);
	EXPECT_EQ(0xdcba, record.thread_id);
}

TEST_F(record, has_process_and_thread)
{
	struct record record;

	ASSERT_EQ(0, target_event(&self->target, self->id, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(getpid(), record.pid);
	EXPECT_EQ(syscall(SYS_gettid), record.tid);
}

TEST_F(record, has_the_time_of_the_call)
{
	struct record record;
	unsigned long long before, after;

	before = now();
	ASSERT_EQ(0, target_event(&self->target, self->id, NULL, 0));
	after = now();
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_LE(before, record.timestamp);
	EXPECT_GE(after, record.timestamp);
}

TEST_F(record, without_data)
{
	struct record record;

	ASSERT_EQ(0, target_event(&self->target, self->id, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, record.data_len);
	EXPECT_EQ(POSIXTRACE_RECORD_SIZE(0), record.size);
	/* The address is not used if the data is empty. */
	ASSERT_EQ(0, target_event(&self->target, self->id, BAD_POINTER, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, record.data_len);
}

TEST_F(record, size_is_rounded_up_to_8)
{
	struct record record;
	char data[17];

	memset(data, 'x', sizeof(data));
	ASSERT_LE(0, run_on(0));
	for (unsigned int len = 0; len <= sizeof(data); len++) {
		ASSERT_EQ(0, target_event(&self->target, self->id, data, len));
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(len, record.data_len);
		/* The first record names its writer. */
		EXPECT_EQ(!len, record.writers);
		EXPECT_EQ((len ? 0 : 32) + 16 + (len + 7) / 8 * 8, record.size);
	}
}

/*
 * Events with an address near the program are packed if that saves space. Packed and other events
 * are mixed in any order. All keep their data and address.
 */
TEST_F(record, near_the_program_is_packed)
{
	const uint64_t place = (uintptr_t)near_the_program, high = place >> 32;
	const uint64_t addresses[] = { place, place ^ 1ULL << 32, high << 32, ~place, place };
	const unsigned int nr = sizeof(addresses) / sizeof(addresses[0]);
	char data[17], seen[sizeof(data)];
	struct record record;
	unsigned int step;
	bool packed;

	EXPECT_EQ(high, LOAD(self->target.gate->address_high));
	ASSERT_LE(0, run_on(0));
	for (unsigned int i = 0; i < nr * (sizeof(data) + 1); i++) {
		struct posixtrace_event event = {
			.event_id = self->id,
			.data = (uintptr_t)data,
			.data_len = i / nr,
			.prog_address = addresses[i % nr],
		};

		memset(data, 'a' + i % 26, sizeof(data));
		ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
		ASSERT_EQ(1, stream_take(&self->stream, &record, seen, sizeof(seen)));
		EXPECT_EQ(addresses[i % nr], record.prog_address);
		ASSERT_EQ(i / nr, record.data_len);
		EXPECT_EQ(0, memcmp(data, seen, record.data_len));
		packed = record.data_len % 8 >= 1 && record.data_len % 8 <= 4 &&
			 addresses[i % nr] >> 32 == high;
		EXPECT_EQ(packed ? POSIXTRACE_RECORD_PACKED : 0, record.flags);
		step = (record.data_len + (packed ? 12 : 16) + 7) / 8 * 8;
		EXPECT_EQ((i ? 0 : 32) + step, record.size);
		EXPECT_EQ(high, record.address_high);
	}
}

/* The thread id is a value that the caller passes. This thread passes different ones. */
TEST_F(record, each_thread_id_is_recorded)
{
	static const uint64_t threads[] = { 0, 1, 1, 1ULL << 63, 1ULL << 63, 1, 0, 0, 1, ~0ULL };
	struct posixtrace_event event = { .event_id = self->id };
	struct record record;

	ASSERT_LE(0, run_on(0));
	for (unsigned int i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		event.thread_id = threads[i];
		ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
	}
	for (unsigned int i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(threads[i], record.thread_id);
		EXPECT_EQ(getpid(), record.pid);
		EXPECT_EQ(syscall(SYS_gettid), record.tid);
		EXPECT_EQ(!i || threads[i] != threads[i - 1], record.writers);
	}
}

/* A record has only the lower half of its time, which is ambiguous after the span. */
TEST_F(record, names_its_writer_again_at_the_end_of_the_span)
{
	struct record record;
	struct writer writer;

	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, writer_open(&writer, &self->target, 0, 0));
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(0, target_event(&self->target, self->id, NULL, 0));
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(i % 2 == 0, record.writers);
		EXPECT_EQ(record.named + POSIXTRACE_WRITER_SPAN, LOAD(writer.head->time_end));
		EXPECT_LE(record.named, record.timestamp);
		/* Pretend that the span has passed. */
		if (i % 2)
			writer.head->time_end = record.timestamp;
	}
	writer_close(&writer);
}

TEST_F(record, data_up_to_the_limit_is_complete)
{
	struct record record;
	char data[256], got[256];

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i * 7;
	ASSERT_EQ(0, target_event(&self->target, self->id, data, sizeof(data)));
	ASSERT_EQ(1, stream_take(&self->stream, &record, got, sizeof(got)));
	EXPECT_EQ(sizeof(data), record.data_len);
	EXPECT_EQ(0, record.flags);
	EXPECT_EQ(0, memcmp(data, got, sizeof(data)));
}

TEST_F(record, data_beyond_the_limit_is_truncated)
{
	struct record record;
	char data[300], got[300];

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i * 7;
	ASSERT_EQ(0, target_event(&self->target, self->id, data, 257));
	ASSERT_EQ(1, stream_take(&self->stream, &record, got, sizeof(got)));
	EXPECT_EQ(256, record.data_len);
	EXPECT_EQ(POSIXTRACE_RECORD_TRUNCATED, record.flags);
	EXPECT_EQ(0, memcmp(data, got, 256));
}

TEST_F(record, huge_length_is_truncated)
{
	struct record record;
	char data[256] = "huge";

	ASSERT_EQ(0, target_event(&self->target, self->id, data, ~0UL));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(256, record.data_len);
	EXPECT_EQ(POSIXTRACE_RECORD_TRUNCATED, record.flags);
}

TEST_F(record, data_that_the_caller_has_truncated_is_marked)
{
	struct posixtrace_event event = {
		.event_id = self->id,
		.flags = POSIXTRACE_EVENT_TRUNCATED,
		.data = (uintptr_t)"some",
		.data_len = 4,
	};
	struct record record;
	char got[4];

	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
	ASSERT_EQ(1, stream_take(&self->stream, &record, got, sizeof(got)));
	EXPECT_EQ(sizeof(got), record.data_len);
	EXPECT_EQ(POSIXTRACE_RECORD_TRUNCATED, record.flags);
	EXPECT_EQ(0, memcmp("some", got, sizeof(got)));
}

TEST_F(record, streams_truncate_each_to_its_limit)
{
	struct record record;
	struct stream wide;
	char data[300] = "";

	create_init(&wide.arg, 0);
	wide.arg.attr.max_data_size = 280;
	ASSERT_EQ(0, stream_open(&wide));
	ASSERT_EQ(0, stream_start(&wide));
	ASSERT_EQ(0, target_event(&self->target, self->id, data, 270));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(256, record.data_len);
	EXPECT_EQ(POSIXTRACE_RECORD_TRUNCATED, record.flags);
	ASSERT_EQ(1, stream_take(&wide, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	ASSERT_EQ(1, stream_take(&wide, &record, NULL, 0));
	EXPECT_EQ(270, record.data_len);
	EXPECT_EQ(0, record.flags);
	stream_close(&wide);
}

TEST_F(record, events_are_in_the_order_of_their_calls)
{
	struct record record;
	unsigned long long last = 0;
	int n;

	/* Record so many events that all CPUs need more than one sub-buffer. */
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(0, target_event(&self->target, self->id, &i, sizeof(i)));
		run_on(i / 16);
	}
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, &n, sizeof(n)));
		ASSERT_EQ(i, n);
		ASSERT_LE(last, record.timestamp);
		last = record.timestamp;
	}
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(record, unnamed_events_are_recorded)
{
	struct record record;

	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
}

/* ------------------------------------------------------------------ */
/* Calls that do not record						*/

FIXTURE(refused)
{
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(refused)
{
	struct posixtrace_event event;
	int ret;
};

FIXTURE_VARIANT_ADD(refused, flag) {
	.event = { .event_id = POSIXTRACE_ID_UNNAMED, .flags = 1U << 1 }, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, flag_beside_truncated) {
	.event = {
		.event_id = POSIXTRACE_ID_UNNAMED,
		.flags = POSIXTRACE_EVENT_TRUNCATED | 1U << 1
	}, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, last_flag) {
	.event = { .event_id = POSIXTRACE_ID_UNNAMED, .flags = 1U << 31 }, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, reserved) {
	.event = { .event_id = POSIXTRACE_ID_UNNAMED, .reserved = 1 }, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, id_zero) { .event = { .event_id = 0 }, .ret = -EINVAL };
FIXTURE_VARIANT_ADD(refused, id_of_start) {
	.event = { .event_id = POSIXTRACE_ID_START }, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, last_system_id) {
	.event = { .event_id = POSIXTRACE_ID_UNNAMED - 1 }, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, id_beyond_all) {
	.event = { .event_id = POSIXTRACE_ID_MAX }, .ret = -EINVAL
};

FIXTURE_VARIANT_ADD(refused, id_far_beyond_all) { .event = { .event_id = ~0U }, .ret = -EINVAL };

/* No error, since POSIX lets posix_trace_event() ignore an undefined type. */
FIXTURE_VARIANT_ADD(refused, undefined_id) {
	.event = { .event_id = POSIXTRACE_ID_MAX - 1 }, .ret = 0
};

FIXTURE_SETUP(refused)
{
	struct record start;

	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &start, NULL, 0));
}

FIXTURE_TEARDOWN(refused)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(refused, records_nothing)
{
	struct posixtrace_event event = variant->event;
	struct record record;

	EXPECT_EQ(variant->ret, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(record, skipped_streams_get_nothing)
{
	struct posixtrace_event event = { .event_id = self->id };
	struct record record;
	struct stream other;

	ASSERT_EQ(0, stream_create(&other, 0));
	ASSERT_EQ(0, stream_start(&other));
	ASSERT_EQ(1, stream_take(&other, &record, NULL, 0));
	event.skip = 1U << self->stream.arg.slot;
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(1, stream_take(&other, &record, NULL, 0));
	event.skip = ~0U;
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, stream_take(&other, &record, NULL, 0));
	stream_close(&other);
}

TEST_F(record, bad_data_is_a_fault_and_loses_no_other_event)
{
	struct posixtrace_status status;
	struct record record;
	int n;

	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, target_event(&self->target, self->id, &i, sizeof(i)));
		EXPECT_EQ(-EFAULT, target_event(&self->target, self->id, BAD_POINTER, 16));
	}
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, &n, sizeof(n)));
		EXPECT_EQ(i, n);
	}
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(0, status.lost);
}

TEST_F(record, data_that_ends_at_an_unmapped_page_is_a_fault)
{
	struct record record;
	char *page;

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	EXPECT_EQ(-EFAULT, target_event(&self->target, self->id, page + 4096 - 15, 16));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, target_event(&self->target, self->id, page + 4096 - 16, 16));
	EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	munmap(page, 4096);
}

TEST_F(record, argument_at_a_bad_address_is_a_fault)
{
	struct record record;

	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_EVENT, BAD_POINTER));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(record, bad_arguments_win_over_bad_data)
{
	struct posixtrace_event event = {
		.event_id = self->id,
		.flags = 1U << 1,
		.data = (uintptr_t)BAD_POINTER,
		.data_len = 16,
	};

	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
	event.flags = 0;
	event.event_id = POSIXTRACE_ID_START;
	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENT, &event));
}

/* The data is not read for an event that no stream records. */
TEST_F(record, bad_data_of_a_disabled_type_is_ignored)
{
	EXPECT_EQ(0, target_event(&self->target, POSIXTRACE_ID_MAX - 1, BAD_POINTER, 16));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, target_event(&self->target, self->id, BAD_POINTER, 16));
}

/* ------------------------------------------------------------------ */
/* The place of the program						*/

/* Changes the address at which the kernel sees the program of this process. */
static int move_program(uintptr_t place)
{
	return prctl(PR_SET_MM, PR_SET_MM_END_CODE, place + 4096, 0, 0) ||
	       prctl(PR_SET_MM, PR_SET_MM_START_CODE, place, 0, 0) ? -errno : 0;
}

TEST_F(record, second_attach_does_not_move_the_program)
{
	const unsigned int high = LOAD(self->target.gate->address_high);
	const uintptr_t place = (uintptr_t)&getpid;
	struct target other;

	ASSERT_NE(high, place >> 32);
	ASSERT_EQ(0, move_program(place));
	ASSERT_EQ(0, target_open(&other));
	EXPECT_EQ(high, LOAD(other.gate->address_high));
	target_close(&other);
}

TEST_F(record, program_that_moved_attaches_to_another_generation)
{
	const unsigned long long generation = LOAD(self->target.gate->generation);
	const uintptr_t place = (uintptr_t)&getpid;

	target_close(&self->target);
	ASSERT_EQ(0, target_open(&self->target));
	EXPECT_EQ(generation, LOAD(self->target.gate->generation));
	target_close(&self->target);
	ASSERT_EQ(0, move_program(place));
	ASSERT_EQ(0, target_open(&self->target));
	EXPECT_EQ(place >> 32, LOAD(self->target.gate->address_high));
	EXPECT_NE(generation, LOAD(self->target.gate->generation));
}

/* A child of vfork() records through its parent's file, without attaching. */
TEST_F(record, child_that_shares_memory_packs_as_its_parent)
{
	struct posixtrace_event event = {
		.event_id = self->id,
		.data = (uintptr_t)"abc",
		.data_len = 4,
		.prog_address = (uintptr_t)near_the_program,
	};
	struct record record;
	struct stream stream;
	pid_t pid;

	create_init(&stream.arg, getpid());
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	pid = vfork();
	if (!pid) {
		command(self->target.fd, POSIXTRACE_IOC_EVENT, &event);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(pid, record.pid);
	EXPECT_EQ(self->id, record.event_id);
	EXPECT_EQ(POSIXTRACE_RECORD_PACKED, record.flags);
	EXPECT_EQ(event.prog_address, record.prog_address);
	stream_close(&stream);
}

/* ------------------------------------------------------------------ */
/* Another process							*/

static int record_three(void *arg, const struct talk *talk)
{
	struct target target;
	int ret;

	(void)arg;
	if (target_open(&target))
		return 1;
	say(talk, syscall(SYS_gettid));
	while (hear(talk) != -EPIPE) {
		ret = target_event(&target, POSIXTRACE_ID_UNNAMED, "child", 6);
		say(talk, ret);
	}
	return 0;
}

TEST(record_of_another_process_carries_its_pid)
{
	struct record record;
	struct stream stream;
	struct child child;
	char data[8];
	long tid;

	ASSERT_EQ(0, child_start(&child, record_three, NULL));
	tid = hear(&child.talk);
	ASSERT_EQ(0, stream_create(&stream, child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	EXPECT_EQ(getpid(), record.pid);
	ASSERT_EQ(1, stream_take(&stream, &record, data, sizeof(data)));
	EXPECT_EQ(child.pid, record.pid);
	EXPECT_EQ(tid, record.tid);
	EXPECT_STREQ("child", data);

	/* The events outlive the child. */
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, stream_take(&stream, &record, data, sizeof(data)));
	EXPECT_EQ(child.pid, record.pid);
	EXPECT_EQ(0, stream_stop(&stream));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_STOP, record.event_id);
	stream_close(&stream);
}

TEST_HARNESS_MAIN
