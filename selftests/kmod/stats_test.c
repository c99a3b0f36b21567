// SPDX-License-Identifier: GPL-2.0
/*
 * GET_STATS and CLEAR: the counters must add up, and CLEAR must reset the stream.
 */
#define _GNU_SOURCE
#include "policy_writer.h"

static int get_stats(struct stream *stream, struct posixtrace_stats *stats)
{
	memset(stats, 0x5a, sizeof(*stats));
	return command(stream->fd, POSIXTRACE_IOC_GET_STATS, stats);
}

static void write_events(struct writer *writer, int count)
{
	char data[200] = "";

	for (int i = 0; i < count; i++)
		write_alternately(writer, i, data, sizeof(data));
}

TEST_F(policy, count_recorded_events)
{
	struct posixtrace_stats stats;
	struct posixtrace_status status;

	ASSERT_EQ(0, get_stats(&self->stream, &stats));
	EXPECT_EQ(0, stats.recorded);
	write_events(&self->writer, 100);
	ASSERT_EQ(0, get_stats(&self->stream, &stats));
	EXPECT_EQ(100, stats.recorded);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, stats.overwritten);
	EXPECT_EQ(0, stats.overwritten_system);
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(status.memory, stats.memory);
	EXPECT_EQ(1, stats.processes);
	EXPECT_EQ(0, stats.untraced);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, stats.reserved[i]);
}

TEST_F(policy, recorded_and_dropped_add_up)
{
	struct posixtrace_stats stats;
	struct record record;
	unsigned long long taken = 0;

	write_events(&self->writer, 1000);
	ASSERT_EQ(0, get_stats(&self->stream, &stats));
	EXPECT_EQ(1000, stats.recorded + stats.dropped);
	EXPECT_LT(0, stats.dropped + stats.overwritten);
	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		taken += record.event_id == POSIXTRACE_ID_UNNAMED;
	EXPECT_EQ(stats.recorded, taken + stats.overwritten);
}

TEST_F(policy, refuses_a_bad_address)
{
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_GET_STATS, BAD_POINTER));
}

TEST_F(policy, clear_resets_the_counters)
{
	struct posixtrace_status status;
	struct posixtrace_stats stats;
	struct record record;

	write_events(&self->writer, 1000);
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
	ASSERT_EQ(0, get_stats(&self->stream, &stats));
	EXPECT_EQ(0, stats.recorded);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, stats.overwritten);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(0, status.lost);
	EXPECT_EQ(variant->policy == POSIXTRACE_POLICY_LOOP ? POSIXTRACE_STATUS_RUNNING : 0,
		  status.flags);
	/* No loss is left unreported, and all sub-buffers are free again. */
	EXPECT_EQ(LOAD(self->stream.ctrl->gap_generation), self->stream.reader->gap_ack);
	ASSERT_EQ(0, stream_start(&self->stream));
	write_events(&self->writer, 200);
	ASSERT_EQ(0, get_stats(&self->stream, &stats));
	EXPECT_EQ(200, stats.recorded);
	EXPECT_EQ(0, stats.dropped + stats.overwritten);
}

TEST_F(policy, clear_keeps_space_for_stop)
{
	struct record record;

	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
		ASSERT_EQ(0, stream_stop(&self->stream));
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(POSIXTRACE_ID_STOP, record.event_id);
		ASSERT_EQ(0, stream_start(&self->stream));
	}
}

TEST_HARNESS_MAIN
