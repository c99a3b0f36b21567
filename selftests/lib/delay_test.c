// SPDX-License-Identifier: GPL-2.0
/*
 * Restartable sequences with a long delay at a selected point, so that a writer is often
 * interrupted there and must retry.
 */
#define _GNU_SOURCE
#include "delay.h"
#include "storm.h"

#ifdef HAVE_DELAYS
/* In shared memory: the number of aborts of all threads. */
static struct aborts {
	long at[PXTU_DELAYS + 1];
} *aborts;

/*
 * Adds the aborts of this thread to the totals. Also runs in a handler. Each abort is added only
 * once, by the handler or by the interrupted thread.
 */
static void collect_aborts(void)
{
	for (int point = 0; point <= PXTU_DELAYS; point++) {
		unsigned int count = __atomic_exchange_n(&delay_aborts[point], 0,
							 __ATOMIC_RELAXED);

		if (count)
			__atomic_fetch_add(&aborts->at[point], count, __ATOMIC_RELAXED);
	}
}

/*
 * A signal handler that records, so it uses sequences itself. It runs before the abort that its
 * signal causes.
 */
static void record_in_handler(int signal)
{
	unsigned int at = delay_at;

	send_from_handler(signal);
	collect_aborts();
	delay_at = at;
}

FIXTURE(delay)
{
	struct storm storm;
};

FIXTURE_VARIANT(delay)
{
	int point;	/* 0: all points */
	int policy;
	size_t size;
};

#define ROOMY	(16 << 20)
#define SMALL	(32 << 10)

FIXTURE_VARIANT_ADD(delay, time) { PXTU_DELAY_TIME, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, checked) { PXTU_DELAY_CHECKED, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, checked_and_full) { PXTU_DELAY_CHECKED, POSIX_TRACE_UNTIL_FULL, SMALL };
FIXTURE_VARIANT_ADD(delay, head) { PXTU_DELAY_HEAD, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, head_of_loop) { PXTU_DELAY_HEAD, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, writer) { PXTU_DELAY_WRITER, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, header) { PXTU_DELAY_DATA, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, written) { PXTU_DELAY_WRITTEN, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, commit) { PXTU_DELAY_COMMIT, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, commit_of_loop) { PXTU_DELAY_COMMIT, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, drop) { PXTU_DELAY_DROP, POSIX_TRACE_UNTIL_FULL, SMALL };
FIXTURE_VARIANT_ADD(delay, fast_checked) { PXTU_DELAY_FAST_CHECKED, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, fast_head) { PXTU_DELAY_FAST_HEAD, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, fast_time) { PXTU_DELAY_FAST_TIME, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, fast_header) { PXTU_DELAY_FAST_DATA, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, fast_written) { PXTU_DELAY_FAST_WRITTEN, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, fast_commit) { PXTU_DELAY_FAST_COMMIT, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, all_that_fits) { 0, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, all_until_full) { 0, POSIX_TRACE_UNTIL_FULL, SMALL };
FIXTURE_VARIANT_ADD(delay, all_of_loop) { 0, POSIX_TRACE_LOOP, SMALL };

static int the_point;
static unsigned long long deadline;

/* Is the point among "all points"? Drops are not, because they are rare. */
static bool is_counted(int point)
{
	return the_point ? point == the_point : point != PXTU_DELAY_DROP;
}

/*
 * Both times are multiplied by pxt_time_scale() on a slow kernel, so that other work can run in
 * between.
 */
#define DELAY		40000ULL	/* nanoseconds */
#define TURNS		200		/* microseconds */
#define LETTERS		10000

static long wanted_aborts(void)
{
	return the_point ? 200 : 40;
}

static bool were_often_aborted(void)
{
	for (int point = 1; point <= PXTU_DELAYS; point++) {
		if (is_counted(point) &&
		    __atomic_load_n(&aborts->at[point], __ATOMIC_RELAXED) < wanted_aborts())
			return now() > deadline;
	}
	return true;
}

FIXTURE_SETUP(delay)
{
	unsigned int loops = loops_of(DELAY * pxt_time_scale());

	ASSERT_NE(0, __rseq_size);
	aborts = share(sizeof(*aborts));
	ASSERT_NE(NULL, aborts);
	the_point = variant->point;
	for (int point = 1; point <= PXTU_DELAYS; point++) {
		if (!the_point)
			delay_loops[point] = loops / PXTU_DELAYS;
		else if (point == the_point)
			delay_loops[point] = loops;
	}
	storm_handler = record_in_handler;
	storm_letter_sent = collect_aborts;
	self->storm = (struct storm){
		.policy = variant->policy,
		.size = variant->size,
		.turns = TURNS * pxt_time_scale(),
		.letters = rounds(LETTERS),
		.is_long_enough = were_often_aborted,
		.unread = the_point == PXTU_DELAY_DROP,
	};
	ASSERT_EQ(0, storm_prepare(&self->storm));
}

FIXTURE_TEARDOWN(delay)
{
	storm_end(&self->storm);
}

TEST_F_TIMEOUT(delay, every_event_is_accounted_for_after_aborts, 60)
{
	deadline = now() + 30 * NSEC * pxt_time_scale();
	storm_run(_metadata, &self->storm);
	for (int point = 1; point <= PXTU_DELAYS; point++) {
		if (is_counted(point))
			EXPECT_LE(wanted_aborts(), aborts->at[point]);
		if (aborts->at[point])
			TH_LOG("point %d: %ld aborts", point, aborts->at[point]);
	}
}
#endif /* HAVE_DELAYS */

TEST_HARNESS_MAIN
