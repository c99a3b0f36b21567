// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches between untraced threads take as long with thousands of traced processes as
 * with one.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "pxt_test.h"
#include "process.h"
#include "scale.h"
#include "sleepers.h"
#include "uapi.h"

/* Fewer where fork is slow. */
#define CHILDREN	(3000 / pxt_time_scale())

/*
 * Limit for the time of a switch beside all processes, in percent of the time beside one. It leaves
 * room for measurement error.
 */
#define LIMIT		115

#define ROUNDS		61
#define YIELDS		500

static int stop;

static void *give_way(void *arg)
{
	while (!LOAD(stop))
		sched_yield();
	return arg;
}

/* The shortest round in nanoseconds: a busy host disturbs most rounds. */
static unsigned long long least_of_rounds(void)
{
	unsigned long long least = ~0ULL, took, begin;

	for (int round = 0; round < ROUNDS; round++) {
		begin = clock_now(CLOCK_MONOTONIC);
		for (int i = 0; i < YIELDS; i++)
			sched_yield();
		took = clock_now(CLOCK_MONOTONIC) - begin;
		least = took < least ? took : least;
	}
	return least;
}

/* Two threads on one processor. Both have the same fixed priority, so each yield is a switch. */
static unsigned long long switches_take(void)
{
	const struct sched_param fixed = { .sched_priority = 1 }, normal = { .sched_priority = 0 };
	unsigned long long least = 0;
	pthread_t thread;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	if (sched_setscheduler(0, SCHED_FIFO, &fixed))
		return 0;
	if (!pthread_create(&thread, NULL, give_way, NULL)) {
		least = least_of_rounds();
		__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
	}
	sched_setscheduler(0, SCHED_OTHER, &normal);
	return least;
}

TEST(switches_of_others_are_as_fast_beside_thousands_of_traced_processes)
{
	unsigned long long beside_one, beside_all;
	struct stream stream;
	struct child family;

	ASSERT_EQ(0, child_start(&family, sleepers, NULL));
	ASSERT_EQ(0, hear(&family.talk));
	create_init(&stream.arg, family.pid);
	stream.arg.attr.classes = POSIXTRACE_CLASS_SCHED;
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	stream.arg.attr.stream_policy = POSIXTRACE_POLICY_LOOP;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, run_on(0));
	beside_one = switches_take();
	say(&family.talk, CHILDREN);
	EXPECT_EQ(CHILDREN, hear(&family.talk));
	beside_all = switches_take();
	say(&family.talk, 0);
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&family)));
	stream_close(&stream);
	ASSERT_LT(0, beside_one);
	TH_LOG("%llu ns beside one, %llu ns beside %d", beside_one / YIELDS, beside_all / YIELDS,
	       CHILDREN);
	EXPECT_GE(LIMIT * beside_one, 100 * beside_all);
}

TEST_HARNESS_MAIN
