// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that go offline and come back do not cost a stream memory: it keeps the events that it
 * promises to keep, and reuses the space of read events.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "hotplug_stream.h"

/* Switching CPUs takes long, and small streams are enough. */
#define STREAM_SIZE	0

FIXTURE(hotplug_memory)
{
	struct child guard;
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(hotplug_memory)
{
	unsigned int policy;
	unsigned int cycles;
};

FIXTURE_VARIANT_ADD(hotplug_memory, loop) { POSIXTRACE_POLICY_LOOP, 10 };
FIXTURE_VARIANT_ADD(hotplug_memory, until_full) { POSIXTRACE_POLICY_UNTIL_FULL, 50 };

FIXTURE_SETUP(hotplug_memory)
{
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, open_stream(&self->stream, &self->target, variant->policy, STREAM_SIZE));
}

FIXTURE_TEARDOWN(hotplug_memory)
{
	stream_close(&self->stream);
	target_close(&self->target);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

/* Records an event before each cycle: if a cycle cost a sub-buffer, the pool would run out. */
TEST_F(hotplug_memory, going_offline_and_online_costs_no_memory)
{
	unsigned int cycles = variant->cycles;

	/* More cycles than sub-buffers. */
	if (cycles <= self->stream.ctrl->nr_subbufs)
		cycles = self->stream.ctrl->nr_subbufs + 1;
	for (unsigned int i = 0; i < cycles; i++) {
		ASSERT_EQ(0, record_on(&self->target, 1, i));
		ASSERT_EQ(0, switch_cpu(1, false));
		ASSERT_EQ(0, switch_cpu(1, true));
	}
	EXPECT_GE(cycles / records_per_subbuf(&self->stream) + 1,
		  count_used(&self->stream));
	EXPECT_EQ(0, lost_of(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	for (unsigned int i = 0; i < cycles; i++)
		ASSERT_EQ((int)i, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
}

/*
 * All other CPUs are offline, and their events have been read. The remaining CPU then gets the
 * whole pool: it can fill all of it before it loses the first event.
 */
TEST_F(hotplug_memory, no_memory_is_lost_permanently)
{
	unsigned int nr = count_cpus(), kept;

	for (int i = 0; i < 6; i++) {
		unsigned int cpu = 1 + i % (nr - 1);

		ASSERT_EQ(0, record_on(&self->target, cpu, i));
		if (i % 2)
			ASSERT_LE(0, take_number(&self->stream));
		ASSERT_EQ(0, switch_cpu(cpu, false));
		ASSERT_EQ(0, switch_cpu(cpu, true));
	}
	for (unsigned int cpu = 1; cpu < nr; cpu++)
		ASSERT_EQ(0, switch_cpu(cpu, false));
	while (take_number(&self->stream) >= 0)
		;
	for (kept = 0; !lost_of(&self->stream); kept++)
		ASSERT_EQ(0, record_on(&self->target, 0, kept));
	/* There was no space for the last event: it was lost, or overwrote the first sub-buffer. */
	EXPECT_EQ(self->stream.ctrl->nr_subbufs * records_per_subbuf(&self->stream), kept - 1);
}

/*
 * Like memory_test, but with CPUs that go offline and come back. Events are kept as long as the sum
 * of their posix_trace_attr_getmaxusereventsize() does not exceed the stream's size.
 */
TEST_F(hotplug_memory, events_of_the_stream_size_are_kept)
{
	unsigned int size = (POSIXTRACE_RECORD_SIZE(sizeof(struct payload)) * 8 + 6) / 7;
	unsigned int nr = count_cpus(), kept, cpu;
	struct posixtrace_attr attr;

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	for (kept = 0; !lost_of(&self->stream); kept++) {
		ASSERT_GT(self->stream.arg.pool.size,
			  kept * POSIXTRACE_RECORD_STEP(sizeof(struct payload)));
		/* Every fourth event is on another CPU, which is then offline for two events. */
		cpu = kept % 4 ? 0 : 1 + kept / 4 % (nr - 1);
		ASSERT_EQ(0, record_on(&self->target, cpu, kept));
		ASSERT_EQ(0, cpu ? switch_cpu(cpu, false) : 0);
		ASSERT_EQ(0, kept % 4 == 2 ? switch_all_on() : 0);
	}
	EXPECT_LT(attr.stream_size, (unsigned long long)kept * size);
}

TEST_HARNESS_MAIN
