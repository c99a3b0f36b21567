// SPDX-License-Identifier: GPL-2.0
/*
 * Processors that are interrupted when the controller synchronizes with all writers: those
 * that run a thread of the traced process, and no others. Uses the kernel's counters. One
 * processor of the guest is isolated, see "processors=" in selftests/vm/check.
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

/* Number of synchronizations. */
#define ROUNDS		100
#define FEW_CALLS	(ROUNDS / 4)

/* The kernel also calls idle processors for its own purposes, at varying rates. */
#define ATTEMPTS	10

#define CPUS_MAX	64

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

/*
 * Counts the calls that each processor got from others so far. Returns the number of
 * processors, or -1.
 */
static int count_calls(long long counts[CPUS_MAX])
{
	FILE *file = fopen("/proc/interrupts", "re");
	char line[4096], *at = NULL, *end;
	int n = -1;

	if (!file)
		return -1;
	/* "CAL:" on x86-64, "IPI1:" on arm64 */
	while (!at && fgets(line, sizeof(line), file)) {
		if (strstr(line, " Function call interrupts"))
			at = strchr(line, ':');
	}
	fclose(file);
	if (!at)
		return -1;
	at++;
	for (n = 0; n < CPUS_MAX; n++, at = end) {
		counts[n] = strtoll(at, &end, 10);
		if (end == at)
			break;
	}
	return n;
}

/* The task of a child: first run on all processors, then on one. */
struct plan {
	bool attaches;
	bool spins;
	unsigned int cpu;
};

static int be_somewhere(void *arg, const struct talk *talk)
{
	const struct plan *plan = arg;
	struct target target;
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (plan->attaches && target_open(&target))
		return 1;
	/* Idle processors keep the address space of the process that ran last. */
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
	/* For each processor: all calls, and the additional ones. */
	long long calls[CPUS_MAX];
	long long excess[CPUS_MAX];
};

FIXTURE_VARIANT(synchronize)
{
	bool spins;
	int cpu;
};

FIXTURE_VARIANT_ADD(synchronize, of_a_sleeping_target) { .spins = false, .cpu = 0 };
FIXTURE_VARIANT_ADD(synchronize, of_a_running_target) { .spins = true, .cpu = 0 };
FIXTURE_VARIANT_ADD(synchronize, of_a_target_on_an_isolated_processor)
{
	.spins = true, .cpu = ISOLATED,
};

/*
 * The target is on its processor, and a stranger is busy on the other one of the first two, of
 * which one is isolated. The test is on the last one.
 */
FIXTURE_SETUP(synchronize)
{
	struct plan stranger = { .spins = true, .cpu = !variant->cpu };
	struct plan target = { .attaches = true, .spins = variant->spins, .cpu = variant->cpu };

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

/* Makes a call many times, then spends as much time with a call that needs no other processor. */
static int measure(struct _test_data_synchronize *self, int (*once)(struct stream *stream))
{
	long long first[CPUS_MAX], second[CPUS_MAX], third[CPUS_MAX];
	unsigned long long begin = now(), middle;
	struct posixtrace_status status;

	if (count_calls(first) != self->cpus)
		return -1;
	for (int i = 0; i < ROUNDS; i++) {
		if (once(&self->stream))
			return -2;
	}
	middle = now();
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

/* True if no processor but @except was called as often as the controller synchronized. */
static bool others_are_not_called(const struct _test_data_synchronize *self, int except)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		if (cpu != except && self->excess[cpu] >= FEW_CALLS)
			return false;
	}
	return true;
}

TEST_F(synchronize, interrupts_only_processors_with_the_target)
{
	bool alone = false;

	if (self->unfit)
		SKIP(return, "%s", self->unfit);
	for (int i = 0; i < ATTEMPTS && !alone; i++) {
		ASSERT_EQ(0, measure(self, start_and_stop));
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
		ASSERT_EQ(0, measure(self, wait_in_vain));
		alone = others_are_not_called(self, -1);
	}
	EXPECT_TRUE(alone);
}

TEST_HARNESS_MAIN
