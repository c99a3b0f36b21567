// SPDX-License-Identifier: GPL-2.0
/*
 * The policies LOOP and UNTIL_FULL while CPUs are offline, or go offline and come back. See
 * policy_test.c for tests without hotplug.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "hotplug_stream.h"

/* Switching CPUs takes long, and small streams are enough. */
#define STREAM_SIZE	0

/* ------------------------------------------------------------------ */
/* LOOP									*/

FIXTURE(loop)
{
	struct child guard;
	struct stream stream;
	struct target target;
};

FIXTURE_SETUP(loop)
{
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, open_stream(&self->stream, &self->target, POSIXTRACE_POLICY_LOOP,
				 STREAM_SIZE));
}

FIXTURE_TEARDOWN(loop)
{
	stream_close(&self->stream);
	target_close(&self->target);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

TEST_F(loop, recycles_the_sub_buffer_of_an_offline_cpu)
{
	int number;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	ASSERT_EQ(0, switch_cpu(1, false));
	for (number = 1; !lost_of(&self->stream); number++) {
		ASSERT_GT(10000, number);
		ASSERT_EQ(0, record_on(&self->target, 0, number));
	}
	/* The sub-buffer of the offline CPU is the oldest, so it is recycled first. */
	EXPECT_EQ(1, lost_of(&self->stream));
	EXPECT_EQ(POSIXTRACE_NONE, stream_oldest(&self->stream, 1));
	for (int i = 1; i < number; i++)
		ASSERT_EQ(i, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, number));
	EXPECT_EQ(number, take_number(&self->stream));
	EXPECT_EQ(1, lost_of(&self->stream));
}

/* Sub-buffers are recycled in order, so the stream keeps the most recent events. */
TEST_F(loop, keeps_events_of_an_offline_cpu_until_they_are_the_oldest)
{
	int before = 3 * records_per_subbuf(&self->stream) + 1, number, next;

	for (number = 0; number < before; number++)
		ASSERT_EQ(0, record_on(&self->target, 0, number));
	ASSERT_EQ(0, record_on(&self->target, 1, number));
	ASSERT_EQ(0, switch_cpu(1, false));
	for (number++; !lost_of(&self->stream); number++)
		ASSERT_EQ(0, record_on(&self->target, 0, number));
	EXPECT_NE(POSIXTRACE_NONE, stream_oldest(&self->stream, 1));
	for (; stream_oldest(&self->stream, 1) != POSIXTRACE_NONE; number++) {
		ASSERT_GT(10000, number);
		ASSERT_EQ(0, record_on(&self->target, 0, number));
	}
	/*
	 * Three sub-buffers of CPU 0 and the event of CPU 1 are lost, and also the first event of
	 * the fourth sub-buffer, which is below the overwrite watermark. No later event is lost.
	 */
	EXPECT_EQ(before, lost_of(&self->stream));
	for (next = before + 1; next < number; next++)
		ASSERT_EQ(next, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
}

TEST_F(loop, window_has_no_gaps_while_cpus_come_and_go)
{
	unsigned int nr = count_cpus();
	int number, next;

	for (number = 0; number < 12 * 20; number++) {
		ASSERT_EQ(0, record_on(&self->target, number / 5 % nr, number));
		if (number % 20 == 19) {
			ASSERT_EQ(0, switch_cpu(1 + number / 20 % (nr - 1), false));
			ASSERT_EQ(0, record_on(&self->target, 0, ++number));
			ASSERT_EQ(0, switch_all_on());
		}
	}
	EXPECT_LT(0, lost_of(&self->stream));
	next = take_number(&self->stream);
	ASSERT_LE(0, next);
	while (++next < number)
		ASSERT_EQ(next, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
}

/* ------------------------------------------------------------------ */
/* UNTIL_FULL								*/

FIXTURE(until_full)
{
	struct child guard;
	struct stream stream;
	struct target target;
};

FIXTURE_SETUP(until_full)
{
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, open_stream(&self->stream, &self->target, POSIXTRACE_POLICY_UNTIL_FULL,
				 STREAM_SIZE));
}

FIXTURE_TEARDOWN(until_full)
{
	stream_close(&self->stream);
	target_close(&self->target);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

/*
 * Records on CPU 0 until an event is lost. @number is the number of the first event. Returns the
 * number of the lost event.
 */
static int fill(struct stream *stream, struct target *target, int number)
{
	unsigned long long lost = lost_of(stream);

	for (; number < 10000; number++) {
		if (record_on(target, 0, number))
			return -1;
		if (lost_of(stream) != lost)
			return number;
	}
	return -1;
}

TEST_F(until_full, becomes_full_and_starts_again_while_a_cpu_is_offline)
{
	const struct posixtrace_cpu_head *head = &self->stream.heads[1];
	int lost;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	ASSERT_EQ(0, switch_cpu(1, false));
	lost = fill(&self->stream, &self->target, 1);
	ASSERT_LT(0, lost);
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, flags_of(&self->stream));
	EXPECT_EQ(POSIXTRACE_LIMIT_FULL, LOAD(head->limit));
	for (int i = 0; i < lost; i++)
		ASSERT_EQ(i, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
	/* The stream is empty now, and restarts. The offline CPU gets no sub-buffer. */
	stream_release(&self->stream, POSIXTRACE_NONE);
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	EXPECT_EQ(0, LOAD(head->limit));
	EXPECT_EQ(POSIXTRACE_NONE, stream_oldest(&self->stream, 1));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, lost + 1));
	EXPECT_EQ(lost + 1, take_number(&self->stream));
	EXPECT_EQ(1, lost_of(&self->stream));
}

TEST_F(until_full, cpu_that_comes_back_finds_the_stream_full)
{
	int lost;

	ASSERT_EQ(0, record_on(&self->target, 1, 0));
	ASSERT_EQ(0, switch_cpu(1, false));
	lost = fill(&self->stream, &self->target, 1);
	ASSERT_LT(0, lost);
	ASSERT_EQ(0, switch_cpu(1, true));
	for (int i = 1; i <= 5; i++)
		ASSERT_EQ(0, record_on(&self->target, 1, lost + i));
	EXPECT_EQ(5, LOAD(self->stream.heads[1].lost));
	EXPECT_EQ(6, lost_of(&self->stream));
	for (int i = 0; i < lost; i++)
		ASSERT_EQ(i, take_number(&self->stream));
	EXPECT_EQ(-1, take_number(&self->stream));
}

/* Dropped events of a CPU are counted even while the CPU is offline. */
TEST_F(until_full, cpu_goes_offline_while_the_stream_is_full)
{
	int lost;

	lost = fill(&self->stream, &self->target, 0);
	ASSERT_LT(0, lost);
	for (int i = 1; i <= 5; i++)
		ASSERT_EQ(0, record_on(&self->target, 1, lost + i));
	ASSERT_EQ(0, switch_cpu(1, false));
	EXPECT_EQ(6, lost_of(&self->stream));
	while (take_number(&self->stream) >= 0)
		;
	stream_release(&self->stream, POSIXTRACE_NONE);
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, record_on(&self->target, 1, lost + 6));
	EXPECT_EQ(lost + 6, take_number(&self->stream));
	EXPECT_EQ(6, lost_of(&self->stream));
}

/* One CPU remains. It must not lose events, even if it gets little space. */
TEST_F(until_full, reader_that_keeps_up_loses_no_event)
{
	unsigned int nr = count_cpus(), pool = self->stream.ctrl->nr_subbufs;
	int number = 0;

	for (unsigned int cpu = 1; cpu < nr; cpu++) {
		ASSERT_EQ(0, record_on(&self->target, cpu, number));
		ASSERT_EQ(number++, take_number(&self->stream));
		ASSERT_EQ(0, switch_cpu(cpu, false));
	}
	while (number < (int)(2 * pool * records_per_subbuf(&self->stream))) {
		ASSERT_EQ(0, record_on(&self->target, 0, number));
		ASSERT_EQ(number++, take_number(&self->stream));
	}
	EXPECT_EQ(0, lost_of(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
}

TEST_HARNESS_MAIN
