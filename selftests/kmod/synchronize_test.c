// SPDX-License-Identifier: GPL-2.0
/*
 * When the controller synchronizes with all writers, the module interrupts only processors that run
 * a thread of the traced process. If another process shares the memory of the traced one, the
 * module also interrupts other processors, but not often. The tests read the kernel's counters of
 * interrupts. One processor of the guest is isolated: see "processors=" in selftests/vm/check.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "pxt_test.h"
#include "calls.h"
#include "credentials.h"
#include "process.h"
#include "uapi.h"

/* Number of synchronizations. */
#define ROUNDS		100
#define FEW_CALLS	(ROUNDS / 4)

/*
 * At most RATE times a second, and BURST times at the start, the module interrupts processors that
 * run other processes (strangers).
 */
#define MANY_ROUNDS	2000
#define SOME_ROUNDS	400
#define MOMENT		(NSEC / 20000)
#define RATE		100
#define BURST		20
#define STREAMS		8
#define USER		4242
/*
 * Factor by which the limit may be exceeded, because the kernel has its own reasons for interrupts.
 */
#define MARGIN		2

/*
 * Repeat a test, because the kernel also interrupts idle processors for its own reasons, at varying
 * rates.
 */
#define ATTEMPTS	10

#define CPUS_MIN	3
#define ISOLATED	1
#define UNFIT		"needs 3 processors, and their calls counted in /proc/interrupts"
#define NOT_ISOLATED	"needs an isolated processor: isolcpus=1"

static bool one_is_isolated(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/isolated", "re");
	int cpu = -1;

	if (!file)
		return false;
	if (fscanf(file, "%d", &cpu) != 1)
		cpu = -1;
	fclose(file);
	return cpu == ISOLATED;
}

/* What a child does: first run on all processors, then on one. */
struct plan {
	bool attaches;
	bool spins;
	bool shares;		/* shares its memory with a process that sleeps */
	unsigned int threads;	/* additional threads, which sleep */
	unsigned int cpu;
};

static void *be_asleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int be_sibling(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_asleep(arg);
	return 0;
}

/* Adds tasks with this address space: threads, and another process. */
static int be_many(const struct plan *plan)
{
	static char stack[131072] __attribute__((aligned(16)));
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, sizeof(stack));
	for (unsigned int i = 0; i < plan->threads; i++) {
		if (pthread_create(&thread, &attr, be_asleep, NULL))
			return -1;
	}
	pthread_attr_destroy(&attr);
	if (plan->shares &&
	    clone(be_sibling, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		return -1;
	return 0;
}

static int be_somewhere(void *arg, const struct talk *talk)
{
	const struct plan *plan = arg;
	struct target target;
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (plan->attaches && target_open(&target))
		return 1;
	if (be_many(plan))
		return 4;
	/*
	 * Run on each processor in turn: an idle processor keeps the address space of the process
	 * that ran there last.
	 */
	for (int cpu = 0; plan->attaches && cpu < cpus; cpu++) {
		if (run_on(cpu) < 0)
			return 2;
	}
	if (run_on(plan->cpu) < 0)
		return 3;
	say(talk, 0);
	while (plan->spins)
		;
	hear(talk);
	return 0;
}

FIXTURE(synchronize)
{
	struct stream stream;
	struct child target;
	struct child stranger;
	const char *unfit;
	int cpus;
	/* For each processor: the number of all interrupts, and the number caused by the calls. */
	long long calls[CPUS_MAX];
	long long excess[CPUS_MAX];
	/* How long the calls of the module took, in nanoseconds. */
	unsigned long long took;
};

FIXTURE_VARIANT(synchronize)
{
	bool spins;
	bool shares;
	unsigned int threads;
	int cpu;
};

FIXTURE_VARIANT_ADD(synchronize, of_a_sleeping_target) { .spins = false, .cpu = 0 };
FIXTURE_VARIANT_ADD(synchronize, of_a_running_target) { .spins = true, .cpu = 0 };
FIXTURE_VARIANT_ADD(synchronize, of_a_target_on_an_isolated_processor)
{
	.spins = true, .cpu = ISOLATED,
};

FIXTURE_VARIANT_ADD(synchronize, of_many_threads)
{
	.spins = false, .threads = 300, .cpu = 0,
};

FIXTURE_VARIANT_ADD(synchronize, of_shared_memory)
{
	.spins = false, .shares = true, .cpu = 0,
};

/*
 * The target runs on processor 0 or 1, depending on the variant, and a busy stranger on the other
 * one. Processor 1 may be isolated. The test runs on the last processor.
 */
FIXTURE_SETUP(synchronize)
{
	struct plan stranger = { .spins = true, .cpu = !variant->cpu };
	struct plan target = {
		.attaches = true, .spins = variant->spins, .shares = variant->shares,
		.threads = variant->threads, .cpu = variant->cpu,
	};

	self->cpus = count_calls(self->calls);
	self->unfit = self->cpus < CPUS_MIN ? UNFIT : NULL;
	if (variant->cpu == ISOLATED && !one_is_isolated())
		self->unfit = NOT_ISOLATED;
	if (self->unfit)
		return;
	ASSERT_EQ(self->cpus - 1, run_on(self->cpus - 1));
	ASSERT_EQ(0, child_start(&self->target, be_somewhere, &target));
	ASSERT_EQ(0, hear(&self->target.talk));
	ASSERT_EQ(0, child_start(&self->stranger, be_somewhere, &stranger));
	ASSERT_EQ(0, hear(&self->stranger.talk));
	while (!variant->spins && !is_asleep(self->target.pid))
		sched_yield();
	ASSERT_EQ(0, stream_create(&self->stream, self->target.pid));
}

FIXTURE_TEARDOWN(synchronize)
{
	if (self->unfit)
		return;
	stream_close(&self->stream);
	child_kill(&self->target);
	child_kill(&self->stranger);
}

static int start_and_stop(struct stream *stream)
{
	return stream_start(stream) || stream_stop(stream);
}

static int wait_in_vain(struct stream *stream)
{
	struct posixtrace_wait wait = { .flags = POSIXTRACE_WAIT_DEADLINE, .deadline = 1 };

	return command(stream->fd, POSIXTRACE_IOC_WAIT, &wait) != -ETIMEDOUT;
}

/* Sleeps for a moment. */
static int wait_shortly(struct stream *stream)
{
	struct posixtrace_wait wait = {
		.flags = POSIXTRACE_WAIT_DEADLINE,
		.deadline = now() + MOMENT,
	};

	return command(stream->fd, POSIXTRACE_IOC_WAIT, &wait) != -ETIMEDOUT;
}

/*
 * Makes a call many times, and counts the interrupts during that time. Subtracts those that occur
 * in the same time with calls that need no other processor.
 */
static int measure(struct _test_data_synchronize *self, int (*once)(struct stream *stream),
		   int count)
{
	long long first[CPUS_MAX], second[CPUS_MAX], third[CPUS_MAX];
	unsigned long long begin = now(), middle;
	struct posixtrace_status status;

	if (count_calls(first) != self->cpus)
		return -1;
	for (int i = 0; i < count; i++) {
		if (once(&self->stream))
			return -2;
	}
	middle = now();
	self->took = middle - begin;
	if (count_calls(second) != self->cpus)
		return -1;
	while (now() - middle < middle - begin) {
		if (stream_status(&self->stream, &status))
			return -3;
	}
	if (count_calls(third) != self->cpus)
		return -1;
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		self->calls[cpu] = second[cpu] - first[cpu];
		self->excess[cpu] = self->calls[cpu] - (third[cpu] - second[cpu]);
	}
	return 0;
}

/*
 * Returns true if no processor except @except was interrupted as often as the controller
 * synchronized.
 */
static bool others_are_not_called(const struct _test_data_synchronize *self, int except)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		if (cpu != except && self->excess[cpu] >= FEW_CALLS)
			return false;
	}
	return true;
}

/*
 * Returns true if no processor except @except was interrupted more often than a user is allowed to.
 */
static bool others_are_rarely_called(const struct _test_data_synchronize *self, int except)
{
	long long allowed = MARGIN * (BURST + RATE * self->took / NSEC);

	for (int cpu = 0; cpu < self->cpus; cpu++) {
		if (cpu != except && self->excess[cpu] > allowed)
			return false;
	}
	return true;
}

TEST_F(synchronize, interrupts_only_processors_with_the_target)
{
	bool alone = false;

	if (self->unfit)
		SKIP(return, "%s", self->unfit);
	/*
	 * If processes share memory, the kernel does not know where they run, so STOP has to wait.
	 */
	if (variant->shares) {
		ASSERT_EQ(0, measure(self, start_and_stop, SOME_ROUNDS));
		EXPECT_TRUE(others_are_rarely_called(self, -1))
			TH_LOG("%llu ms, calls: %lld %lld %lld", self->took / 1000000,
			       self->calls[0], self->calls[1], self->calls[2]);
		return;
	}
	for (int i = 0; i < ATTEMPTS && !alone; i++) {
		ASSERT_EQ(0, measure(self, start_and_stop, ROUNDS));
		if (variant->spins)
			EXPECT_LE(ROUNDS / 2, self->calls[variant->cpu]);
		alone = others_are_not_called(self, variant->spins ? variant->cpu : -1);
	}
	EXPECT_TRUE(alone);
}

TEST_F(synchronize, is_not_needed_when_a_wait_has_timed_out)
{
	bool alone = false;

	if (self->unfit)
		SKIP(return, "%s", self->unfit);
	for (int i = 0; i < ATTEMPTS && !alone; i++) {
		ASSERT_EQ(0, measure(self, wait_in_vain, ROUNDS));
		alone = others_are_not_called(self, -1);
	}
	EXPECT_TRUE(alone);
}

/* A reader may wait as often as it likes, but must not interrupt strangers as often. */
TEST_F(synchronize, of_waiting_readers_interrupts_strangers_rarely)
{
	/* Make fewer calls if the target spins: its processor may answer late in a guest. */
	const int count = variant->spins ? ROUNDS : MANY_ROUNDS;

	if (self->unfit)
		SKIP(return, "%s", self->unfit);
	ASSERT_EQ(0, measure(self, wait_shortly, count));
	EXPECT_TRUE(others_are_rarely_called(self, variant->spins ? variant->cpu : -1))
		TH_LOG("%d waits in %llu ms, calls: %lld %lld %lld", count,
		       self->took / 1000000, self->calls[0], self->calls[1], self->calls[2]);
}

/* Stops streams in turn. Returns how long that takes in milliseconds, or < 0. */
static long stop_streams(void)
{
	struct stream streams[STREAMS];
	unsigned long long begin;

	for (int i = 0; i < STREAMS; i++) {
		if (stream_create(&streams[i], 0))
			return -1;
	}
	begin = clock_now(CLOCK_MONOTONIC);
	for (int i = 0; i < SOME_ROUNDS; i++) {
		if (start_and_stop(&streams[i % STREAMS]))
			return -2;
	}
	return (clock_now(CLOCK_MONOTONIC) - begin) / 1000000;
}

/* An ordinary user, with a process that shares its memory. */
static int be_a_user(void *arg, const struct talk *talk)
{
	const struct plan plan = { .shares = true };
	struct target target;

	(void)arg;
	if (become_user(USER) || target_open(&target) || be_many(&plan))
		return 1;
	say(talk, stop_streams());
	return 0;
}

/* The rate applies to all streams of a user together. */
TEST(streams_of_a_user_interrupt_strangers_rarely_together)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, be_a_user, NULL));
	EXPECT_LE(1000 * (SOME_ROUNDS - BURST) / RATE, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
