// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a stream, and how much it guarantees to keep: stream-min-size rounded up to whole
 * sub-buffers, plus one sub-buffer per CPU.
 */
#define _GNU_SOURCE
#include "../../kmod/ring/policy.h"
#include "pxt_test.h"
#include "writer.h"

static int open_until_full(struct stream *stream, unsigned long long stream_size,
			   unsigned int max_data_size)
{
	create_init(&stream->arg, 0);
	stream->arg.attr.stream_size = stream_size;
	stream->arg.attr.max_data_size = max_data_size;
	stream->arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	return stream_open(stream);
}

FIXTURE(memory)
{
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(memory)
{
	unsigned long long stream_size;
	unsigned int max_data_size;
};

FIXTURE_VARIANT_ADD(memory, smallest) { 0, 0 };
FIXTURE_VARIANT_ADD(memory, small) { 20000, 100 };
FIXTURE_VARIANT_ADD(memory, usual) { 256 << 10, 1024 };
FIXTURE_VARIANT_ADD(memory, large_events) { 256 << 10, POSIXTRACE_DATA_SIZE_MAX };
FIXTURE_VARIANT_ADD(memory, large_stream) { 8 << 20, 1024 };

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, open_until_full(&self->stream, variant->stream_size,
				     variant->max_data_size));
	ASSERT_EQ(0, target_sync(&self->target));
}

FIXTURE_TEARDOWN(memory)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static unsigned long long granted(struct stream *stream)
{
	struct posixtrace_attr attr;

	return command(stream->fd, POSIXTRACE_IOC_GET_ATTR, &attr) ? 0 : attr.stream_size;
}

TEST_F(memory, subbuffers_have_the_size_of_the_header)
{
	struct posixtrace_attr attr;

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_EQ(pxt_subbuf_size(attr.stream_size, attr.max_data_size),
		  self->stream.ctrl->subbuf_size);
	EXPECT_LE(8 * POSIXTRACE_RECORD_SIZE(variant->max_data_size),
		  self->stream.ctrl->subbuf_size);
}

TEST_F(memory, grants_the_requested_sizes)
{
	EXPECT_LE(variant->stream_size, granted(&self->stream));
	EXPECT_LE(POSIXTRACE_STREAM_SIZE_MIN, granted(&self->stream));
}

/*
 * Returns the number of present CPUs, online or not. In the guest, the kernel's list is "0" or
 * "0-N".
 */
static unsigned int present_cpus(void)
{
	unsigned int first = 0, last = 0;
	FILE *file = fopen("/sys/devices/system/cpu/present", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%u-%u", &first, &last) < 2)
		last = first;
	fclose(file);
	return last - first + 1;
}

TEST_F(memory, pool_is_stream_size_plus_one_subbuffer_per_cpu)
{
	const struct posixtrace_ctrl *ctrl = self->stream.ctrl;
	unsigned int size = ctrl->subbuf_size;
	unsigned int whole = (granted(&self->stream) + size - 1) / size;

	ASSERT_LT(0, present_cpus());
	EXPECT_EQ(whole + present_cpus(), ctrl->nr_subbufs);
	EXPECT_EQ((unsigned long long)ctrl->nr_subbufs * size,
		  self->target.slots[self->stream.arg.slot].pool.size);
}

TEST_F(memory, status_shows_no_more_memory)
{
	const struct posixtrace_ctrl *ctrl = self->stream.ctrl;
	unsigned long long pool = (unsigned long long)ctrl->nr_subbufs * ctrl->subbuf_size;
	unsigned long long known;
	struct posixtrace_status status;

	ASSERT_EQ(0, stream_status(&self->stream, &status));
	/* Three more pages are allocated later. A few system sub-buffers may already exist. */
	known = self->stream.arg.reader.size + self->stream.arg.ctrl.size +
		self->stream.arg.heads.size + 3 * 4096;
	EXPECT_LE(pool, status.memory);
	EXPECT_GE(pool + known + 4 * ctrl->subbuf_size, status.memory);
}

/*
 * Writes events of @len bytes until one is lost. They are all on one CPU, or on all CPUs in turn.
 * They are all by one thread, or each by a different thread than the previous one.
 */
static int write_until_full(struct target *target, unsigned int len, bool all_cpus,
			    bool all_threads)
{
	const struct posixtrace_cpu_head *heads;
	const struct posixtrace_slot *slot = &target->slots[0];
	static char data[POSIXTRACE_DATA_SIZE_MAX];
	struct posixtrace_event event = {
		.event_id = POSIXTRACE_ID_UNNAMED,
		.data = (uintptr_t)data,
		.data_len = len,
	};
	int count = 0, cpu = run_on(0);

	heads = map_range(target->fd, &slot->heads, PROT_READ | PROT_WRITE);
	if (heads == MAP_FAILED)
		return -1;
	while (LOAD(heads[cpu].limit) != POSIXTRACE_LIMIT_FULL) {
		event.thread_id = all_threads ? count : 1;
		if (command(target->fd, POSIXTRACE_IOC_EVENT, &event))
			return -1;
		count++;
		if (all_cpus)
			cpu = run_on(count);
	}
	munmap((void *)heads, slot->heads.size);
	return count - 1;
}

/*
 * Returns the smallest stream size that would guarantee one event more than were kept, so it must
 * exceed the stream's size. Events are kept as long as the sum of their
 * posix_trace_attr_getmaxusereventsize() does not exceed the stream's size. In this sum, a record
 * of at most R bytes counts 8 R / 7.
 */
static unsigned long long promised(unsigned int kept, unsigned int len)
{
	return (kept + 1) * ((POSIXTRACE_RECORD_SIZE(len) * 8 + 6) / 7);
}

TEST_F(memory, events_of_the_stream_size_are_kept_when_one_cpu_writes)
{
	unsigned int len = variant->max_data_size;
	int kept;

	ASSERT_EQ(0, stream_start(&self->stream));
	kept = write_until_full(&self->target, len, false, false);
	ASSERT_LT(0, kept);
	EXPECT_LT(granted(&self->stream), promised(kept, len));
	EXPECT_GE(self->target.slots[0].pool.size, kept * POSIXTRACE_RECORD_STEP(len));
}

/* The worst case: each event records its writer. */
TEST_F(memory, events_of_the_stream_size_are_kept_when_threads_take_turns)
{
	unsigned int len = variant->max_data_size;
	int kept;

	ASSERT_EQ(0, stream_start(&self->stream));
	kept = write_until_full(&self->target, len, false, true);
	ASSERT_LT(0, kept);
	EXPECT_LT(granted(&self->stream), promised(kept, len));
	EXPECT_GE(self->target.slots[0].pool.size, kept * POSIXTRACE_RECORD_SIZE(len));
}

/* A small stream, to which all CPUs write in turn. */
FIXTURE(spread)
{
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(spread)
{
	unsigned long long stream_size;
	unsigned int max_data_size;
	unsigned int len;	/* size of each event */
	bool all_threads;	/* each event comes from a different thread */
};

FIXTURE_VARIANT_ADD(spread, smallest) { 0, 0, 0, false };
FIXTURE_VARIANT_ADD(spread, smallest_of_threads) { 0, 0, 0, true };
FIXTURE_VARIANT_ADD(spread, small) { 20000, 100, 100, false };
FIXTURE_VARIANT_ADD(spread, small_of_threads) { 20000, 100, 100, true };
FIXTURE_VARIANT_ADD(spread, short_events) { 20000, 100, 0, false };
FIXTURE_VARIANT_ADD(spread, short_events_of_threads) { 20000, 100, 0, true };
FIXTURE_VARIANT_ADD(spread, usual) { 256 << 10, 1024, 1024, false };
FIXTURE_VARIANT_ADD(spread, large_events) {
	256 << 10, POSIXTRACE_DATA_SIZE_MAX, POSIXTRACE_DATA_SIZE_MAX, false
};

FIXTURE_VARIANT_ADD(spread, large_events_of_threads) {
	256 << 10, POSIXTRACE_DATA_SIZE_MAX, POSIXTRACE_DATA_SIZE_MAX, true
};

FIXTURE_SETUP(spread)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, open_until_full(&self->stream, variant->stream_size,
				     variant->max_data_size));
	ASSERT_EQ(0, target_sync(&self->target));
}

FIXTURE_TEARDOWN(spread)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(spread, events_of_the_stream_size_are_kept_when_all_cpus_write)
{
	int kept;

	ASSERT_EQ(0, stream_start(&self->stream));
	kept = write_until_full(&self->target, variant->len, true, variant->all_threads);
	ASSERT_LT(0, kept);
	EXPECT_LT(granted(&self->stream), promised(kept, variant->len));
	EXPECT_GE(self->target.slots[0].pool.size,
		  kept * (variant->all_threads ? POSIXTRACE_RECORD_SIZE(variant->len) :
						 POSIXTRACE_RECORD_STEP(variant->len)));
}

TEST(pages_are_freed_at_shutdown)
{
	static struct stream streams[20];

	/*
	 * Together, the streams need more memory than the machine has. Their files and mappings
	 * stay open.
	 */
	for (int i = 0; i < 20; i++) {
		create_init(&streams[i].arg, 0);
		streams[i].arg.attr.stream_size = 64 << 20;
		ASSERT_EQ(0, stream_open(&streams[i]));
		ASSERT_EQ(0, command(streams[i].fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	}
	for (int i = 0; i < 20; i++)
		stream_close(&streams[i]);
}

TEST_HARNESS_MAIN
