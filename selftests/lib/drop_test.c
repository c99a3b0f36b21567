// SPDX-License-Identifier: GPL-2.0
/*
 * Events that a full stream drops are counted without a system call where possible, otherwise with
 * one.
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <posixtrace.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "pxt_test.h"
#include "sequences.h"
#include "trace_test.h"

#define TO_FILL	600	/* enough events to fill a stream */
#define DROPPED	1000
#define SIGNALS	2000	/* some arrive while an event is being counted */

static void record(int count)
{
	char data[256] = "";

	while (count--)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
}

static long long dropped_by(trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	return posixtrace_get_stats(trid, &stats) ? -1 : (long long)stats.dropped;
}

FIXTURE(drop)
{
	struct child child;
	trace_id_t trid;
	long long before;
};

FIXTURE_SETUP(drop)
{
	self->child.pid = -1;
	self->trid = -1;
}

FIXTURE_TEARDOWN(drop)
{
	if (self->child.pid > 0)
		child_kill(&self->child);
	posix_trace_shutdown(self->trid);
}

/* The child fills its stream, and continues on request. */
static int start_full(struct child *child, int (*fn)(void *arg, const struct talk *talk),
		      trace_id_t *trid)
{
	int err = child_start(child, fn, NULL);

	if (err || hear(&child->talk))
		return -1;
	err = new_stream(child->pid, POSIX_TRACE_UNTIL_FULL, trid);
	if (!err)
		err = posix_trace_start(*trid);
	if (err)
		return -err;
	say(&child->talk, 0);
	return hear(&child->talk) ? -1 : 0;
}

static void fill(const struct talk *talk)
{
	say(talk, 0);
	hear(talk);
	record(TO_FILL);
	say(talk, 0);
	hear(talk);
}

/* Permits only read, write and exit from now on. Any other system call kills the process. */
static int record_without_system_calls(void *arg, const struct talk *talk)
{
	(void)arg;
	fill(talk);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 1;
	record(DROPPED);
	syscall(SYS_exit, 0);
	return 1;
}

TEST_F(drop, counts_without_a_system_call)
{
	PXT_NOT_WITH_TSAN("has an additional thread, which stays");
	ASSERT_EQ(0, start_full(&self->child, record_without_system_calls, &self->trid));
	self->before = dropped_by(self->trid);
	say(&self->child.talk, 0);
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = -1;
	EXPECT_LT(0, self->before);
	EXPECT_EQ(self->before + DROPPED, dropped_by(self->trid));
}

static int signals;

static void count_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

/*
 * From now on, reading the counter kills the process, as with strict seccomp. Older arm64 kernels
 * cannot forbid this: on these, drops are counted with a clock.
 */
static int forbid_the_counter(void)
{
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) && errno != EINVAL;
}

static int record_without_a_clock(void *arg, const struct talk *talk)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };
	int count = 0;

	(void)arg;
	fill(talk);
	if (forbid_the_counter() || signal(SIGALRM, count_signal) == SIG_ERR ||
	    setitimer(ITIMER_REAL, &often, NULL))
		return 1;
	for (; __atomic_load_n(&signals, __ATOMIC_RELAXED) < SIGNALS; count++)
		record(1);
	if (setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL))
		return 1;
	say(talk, count);
	return 0;
}

TEST_F(drop, counts_without_a_clock_although_signals_come)
{
	int count;

	PXT_NOT_WITH_TSAN("calls handlers late");
	ASSERT_EQ(0, start_full(&self->child, record_without_a_clock, &self->trid));
	self->before = dropped_by(self->trid);
	say(&self->child.talk, 0);
	count = hear(&self->child.talk);
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = -1;
	EXPECT_LT(0, count);
	EXPECT_EQ(self->before + count, dropped_by(self->trid));
}

static int record_without_sequences(void *arg, const struct talk *talk)
{
	(void)arg;
	fill(talk);
	if (forgo_sequences())
		return 1;
	record(DROPPED);
	return 0;
}

TEST_F(drop, counts_in_threads_without_sequences)
{
	ASSERT_EQ(0, start_full(&self->child, record_without_sequences, &self->trid));
	self->before = dropped_by(self->trid);
	say(&self->child.talk, 0);
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = -1;
	EXPECT_EQ(self->before + DROPPED, dropped_by(self->trid));
}

/* Each thread records while it moves from CPU to CPU. */
static void *record_on_all(void *arg)
{
	(void)arg;
	for (int i = 0; i < 40; i++) {
		run_on(i);
		record(DROPPED / 40);
	}
	return NULL;
}

static int record_in_threads(void *arg, const struct talk *talk)
{
	pthread_t threads[4];
	int i;

	(void)arg;
	fill(talk);
	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, record_on_all, NULL))
			return 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F(drop, counts_each_event_of_threads_that_move)
{
	ASSERT_EQ(0, start_full(&self->child, record_in_threads, &self->trid));
	self->before = dropped_by(self->trid);
	say(&self->child.talk, 0);
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = -1;
	EXPECT_EQ(self->before + 4 * DROPPED, dropped_by(self->trid));
}

/*
 * One stream is full, and the other one accepts the events. Each stream must get every event
 * exactly once.
 */
TEST(other_streams_get_the_drops_of_a_full_one)
{
	struct posixtrace_stats_info stats;
	trace_id_t full, loop;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &full));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &loop));
	ASSERT_EQ(0, posix_trace_start(full));
	ASSERT_EQ(0, posix_trace_start(loop));
	record(TO_FILL);
	EXPECT_LT(0, dropped_by(full));
	EXPECT_EQ(0, dropped_by(loop));
	ASSERT_EQ(0, posixtrace_get_stats(full, &stats));
	EXPECT_EQ(TO_FILL, stats.recorded + stats.dropped);
	ASSERT_EQ(0, posixtrace_get_stats(loop, &stats));
	EXPECT_EQ(TO_FILL, stats.recorded);
	EXPECT_EQ(0, posix_trace_shutdown(full));
	EXPECT_EQ(0, posix_trace_shutdown(loop));
}

/* Many streams use a slot in turn. Each stream counts only its own drops. */
TEST(streams_in_a_reused_slot_count_their_own_drops)
{
	struct posixtrace_stats_info stats;
	trace_id_t trid;

	for (int i = 1; i <= 40; i++) {
		ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
		record(TO_FILL + i);
		ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
		ASSERT_EQ(TO_FILL + i, stats.recorded + stats.dropped);
		ASSERT_LT(0, stats.dropped);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
}

/* An event that is filtered out does not count as dropped. */
TEST(filtered_events_are_not_dropped)
{
	trace_event_set_t set;
	long long before;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	record(TO_FILL);
	before = dropped_by(trid);
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set);
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	record(10);
	EXPECT_EQ(before, dropped_by(trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET));
	record(10);
	EXPECT_EQ(before + 10, dropped_by(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
