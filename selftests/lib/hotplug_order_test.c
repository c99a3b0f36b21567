// SPDX-License-Identifier: GPL-2.0
/*
 * Several CPUs are offline at the same time, each with an open sub-buffer. Tests the order in which
 * their events are overwritten and read. Needs more than two CPUs: see "processors=" in
 * selftests/vm/check.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "disk.h"
#include "hotplug.h"
#include "withlog.h"

#define CPUS_MIN	3

static const struct log_kind by_hand = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 };
static const struct log_kind loop = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };

/* Records on a CPU. Returns 0, or nonzero on failure. */
static int record_on(unsigned int cpu, int *number, int count)
{
	int err = go_to_cpu(cpu);

	withlog_record(*number, count);
	*number += count;
	return err ? err : go_to_cpu(0);
}

/*
 * Records a few sub-buffers on each CPU. The records of the CPUs alternate. Returns 0, or nonzero
 * on failure.
 */
static int record_on_all(int *number)
{
	unsigned int nr = count_cpus();
	int err = 0;

	for (unsigned int i = 0; !err && i < 10 * nr; i++)
		err = record_on(i % nr, number, 40);
	return err;
}

/*
 * Switches off all CPUs except CPU 0, the last CPU first. Each CPU first records @count numbers, so
 * the events are not in the order of the CPU numbers. Returns 0, or nonzero on failure.
 */
static int switch_all_off(int *number, int count)
{
	int err = 0;

	for (unsigned int cpu = count_cpus() - 1; !err && cpu; cpu--) {
		err = record_on(cpu, number, count);
		if (!err)
			err = switch_cpu(cpu, false);
	}
	return err;
}

FIXTURE(hotplug)
{
	struct child guard;
	struct disk disk;
	trace_id_t trid;
	int number;
};

FIXTURE_SETUP(hotplug)
{
	self->trid = -1;
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, disk_begin(&self->disk, "tmpfs"));
}

FIXTURE_TEARDOWN(hotplug)
{
	posix_trace_shutdown(self->trid);
	disk_end(&self->disk);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

/*
 * Records on CPU 0 until at least @count numbers are overwritten. Returns the number of overwritten
 * ones.
 */
static unsigned long long overwrite(trace_id_t trid, int *number, unsigned long long count)
{
	struct posixtrace_stats_info stats = { .overwritten = 0 };

	/* Record fewer at a time than fit into a sub-buffer, so that only one is overwritten. */
	while (*number < 100000 && stats.overwritten < count) {
		withlog_record(*number, 20);
		*number += 20;
		if (posixtrace_get_stats(trid, &stats))
			break;
	}
	return stats.overwritten;
}

TEST_F(hotplug, loop_overwrites_the_events_of_offline_cpus_in_their_order)
{
	unsigned int nr = count_cpus();
	struct event event;

	if (nr < CPUS_MIN)
		SKIP(return, "fewer than three CPUs");
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	for (unsigned int lost = 1; lost < nr; lost++) {
		self->number = 0;
		ASSERT_EQ(0, posix_trace_clear(self->trid));
		ASSERT_EQ(0, switch_all_off(&self->number, 1));
		ASSERT_EQ(lost, overwrite(self->trid, &self->number, lost));
		for (int next = lost; next < self->number; next++) {
			ASSERT_EQ(1, take_user(self->trid, &event));
			ASSERT_EQ(next, event_number(&event));
		}
		EXPECT_EQ(0, take_user(self->trid, &event));
		ASSERT_EQ(0, switch_all_on());
	}
}

TEST_F(hotplug, log_has_the_events_of_offline_cpus_in_order)
{
	struct log_content content;

	if (count_cpus() < CPUS_MIN)
		SKIP(return, "fewer than three CPUs");
	ASSERT_EQ(0, withlog_start(&by_hand, self->disk.fd, &self->trid));
	for (int flush = 0; flush < 3; flush++) {
		ASSERT_EQ(0, record_on_all(&self->number));
		ASSERT_EQ(0, switch_all_off(&self->number, 10));
		withlog_record(self->number, 10);
		self->number += 10;
		ASSERT_EQ(0, flush < 2 ? withlog_flush(self->trid) :
					 posix_trace_shutdown(self->trid));
		log_content_fd(self->disk.fd, &content);
		EXPECT_TRUE(log_content_is(&content, self->number)) {
			TH_LOG("%d of %d numbers, %d holes, %d gaps, %d errors, disorder %d",
			       content.numbers, self->number, content.holes, content.gaps,
			       content.errors, content.disorder);
		}
		ASSERT_EQ(0, switch_all_on());
	}
}

/*
 * CPU 0 still has sub-buffers that are older than those of the offline CPUs, which the failed flush
 * has closed.
 */
TEST_F(hotplug, loop_overwrites_in_order_after_a_failed_flush)
{
	struct log_content content;
	unsigned long long lost;

	if (count_cpus() < CPUS_MIN)
		SKIP(return, "fewer than three CPUs");
	ASSERT_EQ(0, withlog_start(&loop, self->disk.fd, &self->trid));
	ASSERT_EQ(0, disk_fill(self->disk.ballast, 0));
	/* The last page of the file may still have space, so flush until the file is full. */
	do {
		ASSERT_GT(1000, self->number);
		ASSERT_EQ(0, record_on(0, &self->number, 20));
	} while (!withlog_flush(self->trid));
	ASSERT_EQ(0, record_on(0, &self->number, 500));
	ASSERT_EQ(0, switch_all_off(&self->number, 10));
	ASSERT_EQ(ENOSPC, withlog_flush(self->trid));
	lost = overwrite(self->trid, &self->number, 100);
	ASSERT_LE(100, lost);
	ASSERT_EQ(0, ftruncate(self->disk.ballast, 0));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->disk.fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(self->number, content.last + 1);
	/* Only overwritten numbers are lost. */
	EXPECT_EQ(self->number - lost, content.numbers);
	EXPECT_EQ(0, content.disorder + content.errors);
	EXPECT_EQ(1, content.gaps);
	EXPECT_GE(1, content.holes);
}

TEST_HARNESS_MAIN
