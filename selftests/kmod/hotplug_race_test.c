// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that go offline and come back during other operations on streams. See hotplug_test.c
 * for one operation at a time.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "hotplug_stream.h"

struct switcher {
	pthread_t thread;
	int cycles;	/* number of cycles left; read by the other threads */
	int err;
};

static void *switch_off_and_on(void *arg)
{
	struct switcher *switcher = arg;
	unsigned int nr = count_cpus();

	go_to_cpu(0);
	for (int n = switcher->cycles; n; n--) {
		unsigned int cpu = 1 + n % (nr - 1);

		switcher->err = switch_cpu(cpu, false);
		if (!switcher->err)
			switcher->err = switch_cpu(cpu, true);
		if (switcher->err)
			n = 1;
		__atomic_store_n(&switcher->cycles, n - 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

FIXTURE(race)
{
	struct child guard;
	struct target target;
	struct switcher switcher;
};

FIXTURE_SETUP(race)
{
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, target_open(&self->target));
	self->switcher = (struct switcher){ .cycles = 8 };
	ASSERT_EQ(0, pthread_create(&self->switcher.thread, NULL, switch_off_and_on,
				    &self->switcher));
}

FIXTURE_TEARDOWN(race)
{
	pthread_join(self->switcher.thread, NULL);
	EXPECT_EQ(0, self->switcher.err);
	target_close(&self->target);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

static bool race_continues(struct switcher *switcher)
{
	return __atomic_load_n(&switcher->cycles, __ATOMIC_ACQUIRE);
}

/* Records on @cpu. If that is offline, records on a different CPU. */
static int record_near(struct target *target, unsigned int cpu, int number)
{
	struct payload payload = { .number = number };

	go_to_cpu(cpu);
	return target_event(target, POSIXTRACE_ID_UNNAMED, &payload, sizeof(payload));
}

TEST_F(race, streams_come_and_go)
{
	unsigned int nr = count_cpus();
	struct stream stream;

	while (race_continues(&self->switcher)) {
		ASSERT_EQ(0, stream_create(&stream, 0));
		ASSERT_EQ(0, stream_start(&stream));
		for (unsigned int i = 0; i < 2 * nr; i++)
			ASSERT_EQ(0, record_near(&self->target, i, i));
		for (unsigned int i = 0; i < 2 * nr; i++)
			ASSERT_EQ((int)i, take_number(&stream));
		ASSERT_EQ(-1, take_number(&stream));
		stream_close(&stream);
	}
}

TEST_F(race, streams_are_cleared)
{
	unsigned int nr = count_cpus();
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	while (race_continues(&self->switcher)) {
		for (unsigned int i = 0; i < 2 * nr; i++)
			ASSERT_EQ(0, record_near(&self->target, i, i));
		ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
		ASSERT_EQ(0, record_near(&self->target, 1, 4711));
		ASSERT_EQ(4711, take_number(&stream));
		ASSERT_EQ(-1, take_number(&stream));
	}
	stream_close(&stream);
}

TEST_F(race, streams_become_full_and_start_again)
{
	unsigned int nr = count_cpus();
	unsigned long long lost = 0;
	int number = 0, next = 0, rounds = 0;
	struct posixtrace_status status;
	struct stream stream;

	/* Use the smallest size for the stream. */
	create_init(&stream.arg, 0);
	stream.arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	stream.arg.attr.stream_size = 0;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	while (race_continues(&self->switcher)) {
		do {
			ASSERT_EQ(0, record_near(&self->target, number / 10 % nr, number));
			number++;
			ASSERT_EQ(0, stream_status(&stream, &status));
		} while (status.lost == lost);
		ASSERT_EQ(++lost, status.lost);
		/* The last event was lost. All others are read in order. */
		for (; next < number - 1; next++)
			ASSERT_EQ(next, take_number(&stream));
		ASSERT_EQ(-1, take_number(&stream));
		stream_release(&stream, POSIXTRACE_NONE);
		ASSERT_EQ(0, stream_status(&stream, &status));
		ASSERT_EQ(POSIXTRACE_STATUS_RUNNING, status.flags);
		next = number;
		rounds++;
	}
	EXPECT_LT(0, rounds);
	stream_close(&stream);
}

TEST_HARNESS_MAIN
