// SPDX-License-Identifier: GPL-2.0
/* Runs: records that the reader of a stream takes together. Needs no module. */
#define PXT_NO_DEVICE
#include "pxt_test.h"
#include "reader_hooks.h"

/* A run must be short: if it is lost, the kernel must know the time of its first record. */
TEST(run_is_shorter_than_the_span_of_a_writer)
{
	const __u64 times[] = { 0, POSIXTRACE_WRITER_SPAN - 1, POSIXTRACE_WRITER_SPAN };
	const struct posixtrace_batch_event *event;
	struct sim sim;
	__u64 begin;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	/* Begin after the time at which the kernel hands out the first sub-buffer. */
	begin = sim_now(&sim) + 1000;
	for (__u64 n = 0; n < PXTU_ARRAY_SIZE(times); n++) {
		sim.at = begin + times[n];
		ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
	}
	begin_runs(RUN_MAX);
	for (__u64 n = 0; n < PXTU_ARRAY_SIZE(times); n++) {
		event = next(&sim);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(n, payload(event));
		EXPECT_EQ(begin + times[n], pxtu_batch_time(event));
	}
	EXPECT_EQ(2, runs.longest);
	begin_runs(0);
	pxtu_reader_destroy(&sim.reader);
}

TEST(run_has_the_records_of_all_cpus_in_their_order)
{
	const struct posixtrace_batch_event *event;
	struct sim sim;
	__u64 n;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	for (n = 1; n <= 100; n++)
		ASSERT_NE(0, sim_write(&sim, n * 7 / 3 % CPUS, &n, sizeof(n)));
	begin_runs(RUN_MAX);
	for (n = 1; n <= 100; n++) {
		event = next(&sim);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(n, payload(event));
		EXPECT_EQ(n * 7 / 3 % CPUS, event->cpu);
	}
	/* A run ends when the visible records of one CPU are exhausted. */
	EXPECT_LE(100 - CPUS, runs.longest);
	EXPECT_EQ(NULL, next(&sim));
	EXPECT_TRUE(sim_all_read(&sim));
	begin_runs(0);
	pxtu_reader_destroy(&sim.reader);
}

/*
 * Records of all lengths, one after the other: packed ones, unpacked ones, and ones that cannot be
 * packed.
 */
FIXTURE(packed)
{
	struct sim sim;
};

FIXTURE_VARIANT(packed)
{
	unsigned int max;	/* maximum number of records taken together: see begin_runs() */
};

FIXTURE_VARIANT_ADD(packed, one_by_one) { 0 };
FIXTURE_VARIANT_ADD(packed, in_runs) { RUN_MAX };
FIXTURE_VARIANT_ADD(packed, ahead) { AHEAD };

#define PACKED_RECORDS	400U

static unsigned char packed_byte(unsigned int n, unsigned int i)
{
	return (unsigned char)(n * 31 + i + 1);
}

FIXTURE_SETUP(packed)
{
	unsigned char data[SIM_MAX_DATA];

	ASSERT_EQ(0, sim_init(&self->sim, CPUS, SUBBUFS, false));
	for (unsigned int n = 0; n < PACKED_RECORDS; n++) {
		self->sim.packs = n % 5;
		self->sim.address = mixed_address(n);
		for (unsigned int i = 0; i < n % 101; i++)
			data[i] = packed_byte(n, i);
		ASSERT_NE(0, sim_write(&self->sim, n / 50 % 2, data, n % 101));
	}
	begin_runs(variant->max);
}

FIXTURE_TEARDOWN(packed)
{
	begin_runs(0);
	pxtu_reader_destroy(&self->sim.reader);
}

TEST_F(packed, records_have_their_data_and_addresses)
{
	const struct posixtrace_batch_event *event;
	unsigned int wrong = 0;

	for (unsigned int n = 0; n < PACKED_RECORDS; n++) {
		event = next(&self->sim);
		ASSERT_NE(NULL, event);
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, event->event.posix_event_id);
		ASSERT_EQ(n % 101, event->data_len);
		EXPECT_EQ(mixed_address(n), (uintptr_t)event->event.posix_prog_address);
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event->event.posix_truncation_status);
		for (unsigned int i = 0; i < n % 101; i++)
			wrong += ((const unsigned char *)event->data)[i] != packed_byte(n, i);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(NULL, next(&self->sim));
	EXPECT_TRUE(sim_all_read(&self->sim));
	EXPECT_EQ(0, self->sim.reader.corrupt);
	if (variant->max)
		EXPECT_LT(8, runs.longest);
}

static struct sim torn;
static __u64 torn_position, torn_n;

/* When the records of CPU 0 are taken, the kernel needs the sub-buffer of CPU 1. */
static void overwrite_cpu_1(void)
{
	const __u32 idx = torn.oldest[0];

	if (torn_position == pxtu_load(&torn.shared->consumed[idx].position))
		return;
	while (!torn.ctrl->lost) {
		torn_n++;
		sim_write(&torn, 1, &torn_n, sizeof(torn_n));
	}
}

/*
 * If records were lost, records that were taken and are newer than the first lost one also count as
 * lost.
 */
TEST(run_ends_before_the_lost_records_of_another_cpu)
{
	static const __u32 cpus[] = { 0, 1, 0, 1, 2, 0, 2 };
	const struct posixtrace_batch_event *event;
	__u64 time[PXTU_ARRAY_SIZE(cpus)], n, last = 0, read = 0;

	ASSERT_EQ(0, sim_init(&torn, CPUS, SUBBUFS, true));
	n = 1;
	sim_write(&torn, cpus[1], &n, sizeof(n));
	event = next(&torn);
	ASSERT_NE(NULL, event);
	for (n = 2; n < PXTU_ARRAY_SIZE(cpus); n++)
		time[n] = sim_write(&torn, cpus[n], &n, sizeof(n));
	torn_n = n - 1;
	torn_position = torn.shared->consumed[torn.oldest[0]].position;
	begin_runs(RUN_MAX);
	sim_between = overwrite_cpu_1;
	event = next(&torn);
	sim_between = NULL;
	EXPECT_LT(0, torn.ctrl->lost);

	/*
	 * 3 is lost, 5 was taken. 4 and 6 were not taken, but they are older than other lost
	 * records.
	 */
	ASSERT_NE(NULL, event);
	EXPECT_EQ(2, payload(event));
	EXPECT_EQ(1, runs.count);
	event = next(&torn);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_OVERFLOW, event->event.posix_event_id);
	EXPECT_EQ(time[3], pxtu_batch_time(event));
	event = next(&torn);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_RESUME, event->event.posix_event_id);
	EXPECT_LT(time[6], pxtu_batch_time(event));
	EXPECT_EQ(3, torn.reader.skipped);
	while ((event = next(&torn))) {
		ASSERT_LT(last, payload(event));
		last = payload(event);
		read++;
	}
	EXPECT_EQ(torn_n, last);
	EXPECT_EQ(torn_n, 2 + read + torn.ctrl->lost + torn.reader.skipped);
	begin_runs(0);
	pxtu_reader_destroy(&torn.reader);
}

/* Lets CPU 0 write until it gets another sub-buffer. */
static void change_subbuf(void)
{
	const __u32 idx = torn.open[0];

	do {
		torn_n++;
		sim_write(&torn, 0, &torn_n, sizeof(torn_n));
	} while (torn.open[0] == idx);
}

static __u64 torn_time;

/*
 * Acts twice. Between the reader's looks at CPU 0 and CPU 1, both CPUs write records, CPU 0 until
 * it has another sub-buffer. When the reader has taken records of CPU 0, CPU 0 writes until the
 * kernel has overwritten a sub-buffer, and then a few more records.
 */
static void overwrite_behind_the_first(void)
{
	const struct pxtu_reader_cpu *cpu = torn.reader.cpu;

	if (cpu[0].view.used && !cpu[1].view.used && !torn_time) {
		change_subbuf();
		for (int i = 0; i < 2; i++) {
			torn_n++;
			torn_time = sim_write(&torn, 1, &torn_n, sizeof(torn_n));
		}
	}
	if (!cpu[0].run.count || torn.ctrl->lost)
		return;
	while (!torn.ctrl->lost)
		change_subbuf();
	for (int i = 0; i < 3; i++) {
		torn_n++;
		sim_write(&torn, 0, &torn_n, sizeof(torn_n));
	}
}

/* Some records that count as lost are newer than all records that the kernel has overwritten. */
TEST(gap_ends_after_all_records_that_were_taken_in_vain)
{
	const struct posixtrace_batch_event *event;
	__u64 n, time;

	torn_n = 0;
	torn_time = 0;
	ASSERT_EQ(0, sim_init(&torn, CPUS, SUBBUFS, true));
	for (n = 1; n <= 3; n++)
		time = sim_write(&torn, n == 1, &n, sizeof(n));
	torn_n = n - 1;
	begin_runs(RUN_MAX);
	sim_between = overwrite_behind_the_first;
	event = next(&torn);
	sim_between = NULL;

	ASSERT_NE(NULL, event);
	EXPECT_EQ(1, payload(event));
	EXPECT_EQ(1, runs.count);
	EXPECT_LE(2, torn.reader.skipped);
	EXPECT_LT(torn.ctrl->overwrite_watermark, torn_time);
	event = next(&torn);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_OVERFLOW, event->event.posix_event_id);
	EXPECT_EQ(time - 1, pxtu_batch_time(event));
	event = next(&torn);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_RESUME, event->event.posix_event_id);
	EXPECT_LT(torn_time, pxtu_batch_time(event));
	begin_runs(0);
	pxtu_reader_destroy(&torn.reader);
}

/* The reader has not taken the records of CPU 1, so those after the gap are not lost. */
TEST(records_of_another_cpu_after_lost_ones_are_read_again)
{
	const struct posixtrace_batch_event *event;
	__u64 n, read = 0;

	torn_n = 0;
	torn_time = 0;
	ASSERT_EQ(0, sim_init(&torn, CPUS, SUBBUFS, true));
	for (n = 1; n <= 3; n++)
		sim_write(&torn, n == 3, &n, sizeof(n));
	torn_n = n - 1;
	begin_runs(RUN_MAX);
	sim_between = overwrite_behind_the_first;
	event = next(&torn);
	sim_between = NULL;
	EXPECT_LT(torn.ctrl->overwrite_watermark, torn_time);
	for (; event; event = next(&torn))
		read += event->event.posix_event_id == POSIXTRACE_ID_UNNAMED;
	/*
	 * The third record is older than others that the kernel has overwritten, so it was skipped.
	 */
	EXPECT_EQ(1, torn.reader.skipped);
	EXPECT_EQ(torn_n, read + torn.ctrl->lost + 1);
	begin_runs(0);
	pxtu_reader_destroy(&torn.reader);
}

static unsigned int torn_points;

/* At one of the first memory accesses, the kernel reclaims the oldest sub-buffer. */
static void overwrite_the_oldest(void)
{
	if (torn_points && !--torn_points) {
		while (!torn.ctrl->lost)
			change_subbuf();
	}
}

TEST(loss_before_a_run_costs_no_other_event)
{
	const struct posixtrace_batch_event *event;
	unsigned int points;
	__u64 read;

	for (points = 1; points <= 200; points++) {
		torn_n = 0;
		ASSERT_EQ(0, sim_init(&torn, CPUS, SUBBUFS, true));
		while (torn.open[0] != SUBBUFS - 1)
			change_subbuf();
		begin_runs(RUN_MAX);
		torn_points = points;
		sim_between = overwrite_the_oldest;
		for (read = 0; (event = next(&torn)); )
			read += event->event.posix_event_id == POSIXTRACE_ID_UNNAMED;
		sim_between = NULL;
		EXPECT_EQ(0, torn_points);
		EXPECT_EQ(0, torn.reader.skipped);
		EXPECT_EQ(torn_n, read + torn.ctrl->lost);
		begin_runs(0);
		pxtu_reader_destroy(&torn.reader);
		munmap((void *)((uintptr_t)torn.pool & -4096UL), torn.map.pool_size);
	}
}

TEST_HARNESS_MAIN
