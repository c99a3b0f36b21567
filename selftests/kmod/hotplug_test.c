// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that go offline and come back while streams exist: their events are read, and their
 * open sub-buffers are handled.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "hotplug_stream.h"
#include "writer.h"

/* Switching CPUs takes long, and small streams are enough. */
#define STREAM_SIZE	0

FIXTURE(hotplug)
{
	struct child guard;
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(hotplug)
{
	unsigned int policy;
};

FIXTURE_VARIANT_ADD(hotplug, loop) { POSIXTRACE_POLICY_LOOP };
FIXTURE_VARIANT_ADD(hotplug, until_full) { POSIXTRACE_POLICY_UNTIL_FULL };

FIXTURE_SETUP(hotplug)
{
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, open_stream(&self->stream, &self->target, variant->policy, STREAM_SIZE));
}

FIXTURE_TEARDOWN(hotplug)
{
	stream_close(&self->stream);
	target_close(&self->target);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

/* ------------------------------------------------------------------ */
/* Events of a CPU							*/

TEST_F(hotplug, records_of_an_offline_cpu_are_read_in_order)
{
	for (int i = 0; i < 40; i++)
		ASSERT_EQ(0, record_on(&self->target, i % 2, i));
	ASSERT_EQ(0, switch_cpu(1, false));
	for (int i = 40; i < 50; i++)
		ASSERT_EQ(0, record_on(&self->target, 0, i));
	for (int i = 0; i < 50; i++)
		ASSERT_EQ(i, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
	EXPECT_EQ(0, lost_of(&self->stream));
}

TEST_F(hotplug, events_written_through_the_mapping_are_read)
{
	struct payload payload = { .number = 0 };
	struct writer writer;

	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 1));
	for (payload.number = 0; payload.number < 10; payload.number++)
		ASSERT_EQ(0, writer_event(&writer, POSIXTRACE_ID_UNNAMED, &payload,
					  sizeof(payload)));
	ASSERT_EQ(0, go_to_cpu(0));
	ASSERT_EQ(0, switch_cpu(1, false));
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(i, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
	writer_close(&writer);
}

/* Each CPU goes offline and comes back while it holds a partly read sub-buffer. */
TEST_F(hotplug, sub_buffer_can_be_partly_read)
{
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(0, record_on(&self->target, 1, 2 * i));
		ASSERT_EQ(0, record_on(&self->target, 1, 2 * i + 1));
		if (i)
			ASSERT_EQ(2 * i - 1, take_number(&self->stream));
		ASSERT_EQ(2 * i, take_number(&self->stream));
		ASSERT_EQ(0, switch_cpu(1, false));
		ASSERT_EQ(0, switch_cpu(1, true));
	}
	ASSERT_EQ(15, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
}

TEST_F(hotplug, counters_include_the_events_of_an_offline_cpu)
{
	struct posixtrace_stats stats;

	for (int i = 0; i < 10; i++)
		ASSERT_EQ(0, record_on(&self->target, i % 2, i));
	for (int online = 0; online < 2; online++) {
		ASSERT_EQ(0, switch_cpu(1, online));
		ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats));
		EXPECT_EQ(10, stats.recorded);
		EXPECT_EQ(0, stats.dropped);
		EXPECT_EQ(0, stats.overwritten);
	}
}

/* ------------------------------------------------------------------ */
/* The open sub-buffer of a CPU						*/

TEST_F(hotplug, read_sub_buffer_of_an_offline_cpu_can_be_released)
{
	unsigned int i;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	i = stream_oldest(&self->stream, 1);
	ASSERT_NE(POSIXTRACE_NONE, i);
	ASSERT_EQ(0, switch_cpu(1, false));
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, i));
	ASSERT_EQ(0, take_number(&self->stream));
	EXPECT_EQ(0, stream_release(&self->stream, i));
	EXPECT_EQ(POSIXTRACE_SUBBUF_FREE, LOAD(stream_subbuf(&self->stream, i)->state));
	EXPECT_EQ(POSIXTRACE_NONE, stream_oldest(&self->stream, 1));
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, i));
}

TEST_F(hotplug, open_sub_buffer_of_an_online_cpu_cannot_be_released)
{
	unsigned int i;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	ASSERT_EQ(0, take_number(&self->stream));
	i = stream_oldest(&self->stream, 1);
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, i));
	ASSERT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, switch_cpu(1, true));
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, i));
	EXPECT_EQ(i, stream_oldest(&self->stream, 1));
}

TEST_F(hotplug, cpu_that_comes_back_continues_its_sub_buffer)
{
	const struct posixtrace_subbuf *subbuf;
	unsigned long long seq;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	subbuf = stream_subbuf(&self->stream, stream_oldest(&self->stream, 1));
	seq = subbuf->seq;
	ASSERT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, 1));
	EXPECT_EQ(seq, subbuf->seq);
	EXPECT_EQ(POSIXTRACE_SUBBUF_OPEN, LOAD(subbuf->state));
	EXPECT_EQ(2, POSIXTRACE_HEAD_COUNT(LOAD(self->stream.heads[1].head)));
	EXPECT_EQ(0, take_number(&self->stream));
	EXPECT_EQ(1, take_number(&self->stream));
}

TEST_F(hotplug, cpu_that_comes_back_gets_another_sub_buffer_after_release)
{
	unsigned long long seq;
	unsigned int i;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	i = stream_oldest(&self->stream, 1);
	seq = stream_subbuf(&self->stream, i)->seq;
	ASSERT_EQ(0, take_number(&self->stream));
	ASSERT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, stream_release(&self->stream, i));
	/* CPU 0 may get that sub-buffer. */
	ASSERT_EQ(0, record_on(&self->target, 0, 1));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, 2));
	i = stream_oldest(&self->stream, 1);
	ASSERT_NE(POSIXTRACE_NONE, i);
	EXPECT_LT(seq, stream_subbuf(&self->stream, i)->seq);
	EXPECT_EQ(1, take_number(&self->stream));
	EXPECT_EQ(2, take_number(&self->stream));
}

TEST_F(hotplug, stream_created_while_a_cpu_is_offline_serves_it_later)
{
	unsigned int nr_subbufs = self->stream.ctrl->nr_subbufs;

	stream_close(&self->stream);
	target_close(&self->target);
	ASSERT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, open_stream(&self->stream, &self->target, variant->policy, STREAM_SIZE));
	/* The pool has a sub-buffer for each present CPU, online or not. */
	EXPECT_EQ(nr_subbufs, self->stream.ctrl->nr_subbufs);
	ASSERT_EQ(0, record_on(&self->target, 0, 0));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, 1));
	EXPECT_EQ(0, take_number(&self->stream));
	EXPECT_EQ(1, take_number(&self->stream));
}

TEST_F(hotplug, clear_removes_the_events_of_an_offline_cpu)
{
	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	ASSERT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
	EXPECT_EQ(POSIXTRACE_NONE, stream_oldest(&self->stream, 1));
	EXPECT_EQ(0, count_used(&self->stream));
	ASSERT_EQ(0, record_on(&self->target, 0, 1));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, 2));
	EXPECT_EQ(1, take_number(&self->stream));
	EXPECT_EQ(2, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
}

TEST_HARNESS_MAIN
