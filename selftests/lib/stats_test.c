// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_get_stats() and posixtrace_sysconf().
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "reading.h"

FIXTURE(stats)
{
	trace_id_t trid;
	struct posixtrace_stats_info stats;
	struct event event;
};

FIXTURE_VARIANT(stats)
{
	int policy;
};

FIXTURE_VARIANT_ADD(stats, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(stats, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(stats)
{
	ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
}

FIXTURE_TEARDOWN(stats)
{
	posix_trace_shutdown(self->trid);
}

/* Checks all members except the memory. */
static void check(struct __test_metadata *_metadata, const struct posixtrace_stats_info *stats,
		  unsigned long long recorded, unsigned long long read)
{
	EXPECT_EQ(recorded, stats->recorded);
	EXPECT_EQ(read, stats->read);
	EXPECT_EQ(0, stats->dropped);
	EXPECT_EQ(0, stats->overwritten);
	EXPECT_EQ(0, stats->skipped);
	EXPECT_EQ(0, stats->damaged);
	EXPECT_EQ(0, stats->system_lost);
}

/* Records more than the stream holds. Returns the number of events. */
static unsigned long long record_too_many(void)
{
	char data[256] = "";

	for (int i = 0; i < 800; i++) {
		if (i % 100 == 99)
			run_on(i / 100);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	}
	return 800;
}

TEST_F(stats, initially_zero)
{
	memset(&self->stats, 0x5a, sizeof(self->stats));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 0, 0);
}

TEST_F(stats, recorded_and_read_are_user_events)
{
	for (int i = 0; i < 10; i++) {
		run_on(i);
		record_number(i);
	}
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 10, 0);
	/* START does not count. */
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(1, take(self->trid, &self->event));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 10, 4);
	EXPECT_LE(0, take_all(self->trid));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 10, 10);
}

TEST_F(stats, event_that_a_batch_leaves_does_not_count_as_read)
{
	struct posixtrace_batch_event events[4];
	char buffer[8];
	size_t count;

	ASSERT_EQ(1, take(self->trid, &self->event));
	record_number(1);
	record_number(2);
	ASSERT_EQ(0, posixtrace_getevents(self->trid, events, 4, buffer, sizeof(buffer), &count,
					  0));
	ASSERT_EQ(1, count);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 2, 1);
	ASSERT_EQ(1, take(self->trid, &self->event));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 2, 2);
}

TEST_F(stats, events_not_generated_for_the_stream_do_not_count)
{
	trace_event_set_t set;
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_eventid_open("filtered", &id));
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(id, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	posix_trace_event(id, NULL, 0);
	record_number(1);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	record_number(2);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 1, 0);
}

/* With either policy, the counters must account for every event. */
TEST_F(stats, every_event_is_accounted_for)
{
	unsigned long long generated = record_too_many(), taken = 0;

	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	EXPECT_EQ(generated, self->stats.recorded + self->stats.dropped);
	if (variant->policy == POSIX_TRACE_LOOP) {
		EXPECT_EQ(0, self->stats.dropped);
		EXPECT_LT(0, self->stats.overwritten);
	} else {
		EXPECT_LT(0, self->stats.dropped);
		EXPECT_EQ(0, self->stats.overwritten);
	}
	while (take(self->trid, &self->event) == 1)
		taken += self->event.info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	EXPECT_EQ(taken, self->stats.read);
	EXPECT_EQ(generated, self->stats.recorded + self->stats.dropped);
	EXPECT_EQ(self->stats.recorded,
		  self->stats.read + self->stats.overwritten + self->stats.skipped);
	EXPECT_EQ(0, self->stats.damaged);
}

TEST_F(stats, reading_them_resets_nothing)
{
	struct posix_trace_status_info status;
	struct posixtrace_stats_info again;

	record_too_many();
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &again));
	EXPECT_EQ(0, memcmp(&self->stats, &again, sizeof(again)));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &again));
	EXPECT_EQ(0, memcmp(&self->stats, &again, sizeof(again)));
}

TEST_F(stats, clear_resets_them)
{
	record_too_many();
	EXPECT_LE(0, take_all(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 0, 0);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	check(_metadata, &self->stats, 1, 0);
}

#define CYCLES	150

TEST(lost_system_events)
{
	unsigned long long taken = 0;
	struct posixtrace_stats_info stats;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	for (int i = 0; i < CYCLES; i++) {
		ASSERT_EQ(0, posix_trace_start(trid));
		ASSERT_EQ(0, posix_trace_stop(trid));
	}
	while (take(trid, &event) == 1)
		taken += event.info.posix_event_id == POSIX_TRACE_START ||
			 event.info.posix_event_id == POSIX_TRACE_STOP;
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_LT(0, stats.system_lost);
	EXPECT_EQ(2 * CYCLES, taken + stats.system_lost);
	EXPECT_EQ(0, stats.recorded);
	EXPECT_EQ(0, stats.read);
	EXPECT_EQ(0, stats.overwritten);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(stats, memory_is_at_least_the_granted_size)
{
	unsigned long long before;
	trace_attr_t attr;
	size_t size;

	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	EXPECT_LE(size, self->stats.memory);
	/* The stream has reserved all its memory, so recording needs no more. */
	before = self->stats.memory;
	record_too_many();
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &self->stats));
	EXPECT_GE(before + (64 << 10), self->stats.memory);
}

TEST_F(stats, invalid_arguments)
{
	trace_id_t trid;

	errno = 4711;
	EXPECT_EQ(EINVAL, posixtrace_get_stats(self->trid, NULL));
	EXPECT_EQ(EINVAL, posixtrace_get_stats(0, &self->stats));
	EXPECT_EQ(EINVAL, posixtrace_get_stats(self->trid + 1, &self->stats));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posixtrace_get_stats(trid, &self->stats));
	EXPECT_EQ(4711, errno);
}

/* ------------------------------------------------------------------ */

TEST(sysconf_knows_the_limits)
{
	EXPECT_EQ(TRACE_EVENT_NAME_MAX, posixtrace_sysconf(_SC_TRACE_EVENT_NAME_MAX));
	EXPECT_EQ(TRACE_NAME_MAX, posixtrace_sysconf(_SC_TRACE_NAME_MAX));
	EXPECT_EQ(TRACE_SYS_MAX, posixtrace_sysconf(_SC_TRACE_SYS_MAX));
	EXPECT_EQ(TRACE_USER_EVENT_MAX, posixtrace_sysconf(_SC_TRACE_USER_EVENT_MAX));
}

/* The process can create exactly as many streams as posixtrace_sysconf() says. */
TEST(sysconf_knows_the_maximum_of_streams_per_process)
{
	long most = posixtrace_sysconf(POSIXTRACE_SC_STREAMS_PER_PROCESS_MAX), count = 0;
	trace_id_t trid[TRACE_SYS_MAX];
	int err = 0;

	while (count < TRACE_SYS_MAX && !err) {
		err = new_stream(0, POSIX_TRACE_LOOP, &trid[count]);
		count += !err;
	}
	EXPECT_EQ(EAGAIN, err);
	EXPECT_EQ(count, most);
	while (count--)
		EXPECT_EQ(0, posix_trace_shutdown(trid[count]));
	errno = 4711;
	EXPECT_EQ(-1, posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES + 1));
	EXPECT_EQ(EINVAL, errno);
}

/* The value is positive for a supported option and -1 for any other, which is not an error. */
TEST(sysconf_knows_the_options)
{
	const struct {
		int name;
		bool works;
	} options[] = {
		{ _SC_TRACE, true },
		{ _SC_TRACE_EVENT_FILTER, true },
		{ _SC_TRACE_INHERIT, true },
		{ _SC_TRACE_LOG, true },
	};

	errno = 4711;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		EXPECT_EQ(options[i].works ? 200809L : -1,
			  posixtrace_sysconf(options[i].name));
	EXPECT_EQ(4711, errno);
}

TEST(sysconf_asks_the_c_library_for_the_rest)
{
	EXPECT_EQ(sysconf(_SC_PAGESIZE), posixtrace_sysconf(_SC_PAGESIZE));
	EXPECT_EQ(sysconf(_SC_VERSION), posixtrace_sysconf(_SC_VERSION));
	errno = 0;
	EXPECT_EQ(-1, posixtrace_sysconf(-4711));
	EXPECT_EQ(EINVAL, errno);
}

TEST_HARNESS_MAIN
