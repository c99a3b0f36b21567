// SPDX-License-Identifier: GPL-2.0
/*
 * Timestamps are CLOCK_REALTIME with every clock source of the kernel, in the order of the events.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#include "clock_scene.h"
#include "pxt_test.h"
#include "seccomp.h"
#include "sequences.h"
#include "trace_test.h"

static trace_event_id_t type;

static void set_clock(unsigned long long ns)
{
	const struct timespec time = { ns / NSEC, ns % NSEC };

	clock_settime(CLOCK_REALTIME, &time);
}

FIXTURE(clock)
{
	struct scene scene;
};

FIXTURE_VARIANT(clock)
{
	const char *source;
};

FIXTURE_VARIANT_ADD(clock, counter)
{
	.source = COUNTER,
};

#ifdef NO_COUNTER
FIXTURE_VARIANT_ADD(clock, no_counter)
{
	.source = NO_COUNTER,
};
#endif

FIXTURE_SETUP(clock)
{
	ASSERT_EQ(0, scene_set(&self->scene, variant->source));
	type = self->scene.type;
}

FIXTURE_TEARDOWN(clock)
{
	EXPECT_EQ(0, scene_clear(&self->scene));
}

#define ALONE	1000

/* Returns how many of ALONE events are recorded if the module refuses to record events. */
static int record_alone(void)
{
	const struct refusal refusal = { .commands = { POSIXTRACE_IOC_EVENT }, .err = EINVAL };
	struct event event;
	trace_id_t trid;
	int count = 0;

	if (new_roomy_stream(&trid))
		return -1;
	/* The first event attaches the process and maps the stream. */
	posix_trace_event(type, NULL, 0);
	if (take_user(trid, &event) != 1 || refuse_commands(&refusal))
		return -1;
	for (int i = 0; i < ALONE; i++)
		posix_trace_event(type, &i, sizeof(i));
	while (take_user(trid, &event) == 1)
		count++;
	return count;
}

/*
 * The library asks the module for the time after four interruptions in a row, which are rare with
 * any clock.
 */
TEST_F(clock, is_read_without_the_module)
{
	int status;
	pid_t pid;

	/* "make check-command" disables the sequences. */
	if (!__rseq_size)
		return;
	pid = fork();
	if (pid == 0)
		_exit(record_alone() < ALONE * 9 / 10);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Sets the clock and stops the stream. Returns 0 if the STOP has the new time. */
static int last_outside_when_stopped(trace_id_t trid, unsigned long long step)
{
	struct bracket bracket;
	struct event event;

	set_clock(clock_ns() + step);
	bracket.before = clock_ns();
	if (posix_trace_stop(trid))
		return -1;
	bracket.after = clock_ns();
	if (take(trid, &event) != 1 || event.info.posix_event_id != POSIX_TRACE_STOP)
		return -1;
	return event_time(&event) < bracket.before || event_time(&event) > bracket.after;
}

TEST_F_TIMEOUT(clock, is_between_clock_gettime_before_and_after, 120)
{
	static struct bracket bracket[BATCH];
	int events = 1000000 / (pxt_time_scale() * pxt_time_scale());

	/* Fewer events for a source that needs system calls. */
	if (strcmp(variant->source, COUNTER))
		events /= 10;
	for (int done = 0; done < events; done += BATCH) {
		record_brackets(type, bracket, BATCH);
		ASSERT_EQ(0, count_outside(self->scene.trid, bracket, BATCH));
	}
}

TEST_F_TIMEOUT(clock, follows_the_rate_of_the_clock, 120)
{
	static struct bracket bracket[BATCH];

	for (int round = 0; round < 8; round++) {
		ASSERT_LE(0, set_frequency(round % 2 ? 500 : -500));
		for (int i = 0; i < 1 + 4 / pxt_time_scale(); i++) {
			record_brackets(type, bracket, BATCH);
			ASSERT_EQ(0, count_outside(self->scene.trid, bracket, BATCH));
		}
	}
	EXPECT_LE(0, set_frequency(0));
}

#ifdef NO_COUNTER
/* Times do not go backwards when the kernel changes its clock source. */
TEST_F(clock, keeps_its_order_when_its_source_changes)
{
	const char *other = strcmp(variant->source, COUNTER) ? COUNTER : NO_COUNTER;
	unsigned long long last = 0;
	struct event event;
	int ret;

	for (int round = 0; round < 20; round++) {
		ASSERT_EQ(0, set_source(round % 2 ? variant->source : other));
		for (int i = 0; i < 100; i++)
			posix_trace_event(type, &i, sizeof(i));
		while ((ret = take_user(self->scene.trid, &event)) == 1) {
			EXPECT_LE(last, event_time(&event));
			last = event_time(&event);
		}
		ASSERT_EQ(0, ret);
		EXPECT_LE(last, clock_ns() + NSEC);
	}
}

#endif

/* A thread changes its CPU before each event. */
TEST_F(clock, keeps_its_order_when_a_thread_migrates)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int rounds = 1000 / pxt_time_scale();
	unsigned long long last = 0;
	struct event event;
	cpu_set_t set;

	ASSERT_LT(1, cpus);
	for (int i = 0; i < rounds; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % cpus, &set);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
		posix_trace_event(type, &i, sizeof(i));
	}
	for (int i = 0; i < rounds; i++) {
		ASSERT_EQ(1, take_user(self->scene.trid, &event));
		ASSERT_EQ(i, event_number(&event));
		/* Times may be equal, because the clock may be coarse. */
		EXPECT_LE(last, event_time(&event));
		last = event_time(&event);
	}
}

/* The first event after the step has the new time. */
TEST_F(clock, follows_a_step_forward_immediately)
{
	const unsigned long long step = 10 * NSEC;
	static struct bracket bracket[BATCH];
	const int rounds = 20;

	for (int i = 0; i < rounds; i++) {
		set_clock(clock_ns() + step);
		record_brackets(type, bracket, 1);
		EXPECT_EQ(0, count_outside(self->scene.trid, bracket, 1));
	}
	/* Events that the module records also have the new time. */
	EXPECT_EQ(0, last_outside_when_stopped(self->scene.trid, step));
	set_clock(clock_ns() - (rounds + 1) * step);
}

/* Times follow a step forward, but never go backwards. */
TEST_F_TIMEOUT(clock, keeps_its_order_when_the_clock_is_set, 60)
{
	const long long steps[] = { 3600, -7200, 1800 };
	unsigned long long last = 0;
	long long shift = 0;
	struct event event;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		set_clock(clock_ns() + steps[i] * (long long)NSEC);
		shift += steps[i];
		for (int n = 0; n < 1000; n++)
			posix_trace_event(type, &n, sizeof(n));
		for (int n = 0; n < 1000; n++) {
			ASSERT_EQ(1, take_user(self->scene.trid, &event));
			ASSERT_EQ(n, event_number(&event));
			ASSERT_LE(last, event_time(&event));
			last = event_time(&event);
		}
	}
	set_clock(clock_ns() - shift * (long long)NSEC);
	EXPECT_LT(clock_ns(), last);
	/* If all streams are gone, a new one starts with the current time. */
	ASSERT_EQ(0, posix_trace_shutdown(self->scene.trid));
	ASSERT_EQ(0, new_roomy_stream(&self->scene.trid));
	posix_trace_event(type, NULL, 0);
	ASSERT_EQ(1, take_user(self->scene.trid, &event));
	EXPECT_GE(clock_ns(), event_time(&event));
	EXPECT_LT(clock_ns() - 10 * NSEC, event_time(&event));
}

static int record_in_time_namespace(void)
{
	char offset[] = "monotonic 86400 0\n";
	int fd, i = 4711;

	if (unshare(CLONE_NEWTIME))
		return 1;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, offset, strlen(offset)) < 0)
		return 2;
	close(fd);
	/* Only children enter the new namespace. */
	switch (fork()) {
	case 0:
		posix_trace_event(type, &i, sizeof(i));
		_exit(0);
	case -1:
		return 3;
	}
	return wait(&i) < 0 || i;
}

/* The namespace has its own CLOCK_MONOTONIC, but the same CLOCK_REALTIME. */
TEST_F(clock, is_clock_realtime_in_a_time_namespace)
{
	unsigned long long before = clock_ns();
	trace_attr_t attr;
	struct event event;
	trace_id_t trid;
	int status;
	pid_t pid;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	pid = fork();
	if (pid == 0)
		_exit(record_in_time_namespace());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(4711, event_number(&event));
	EXPECT_LE(before, event_time(&event));
	EXPECT_GE(clock_ns(), event_time(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

#define AFTER_SETNS	400

/* Records an event, then enters a namespace with CLOCK_MONOTONIC ahead by @offset. */
static int record_after_setns(const char *offset)
{
	int fd, i = 0;

	posix_trace_event(type, &i, sizeof(i));
	if (unshare(CLONE_NEWTIME))
		return 1;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, offset, strlen(offset)) < 0)
		return 2;
	close(fd);
	fd = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWTIME))
		return 3;
	for (i = 1; i <= AFTER_SETNS; i++)
		posix_trace_event(type, &i, sizeof(i));
	return 0;
}

/*
 * The library does not notice the setns(). The clock of the namespace is offset by a day, by
 * slightly more than a tick, or backwards.
 */
TEST_F(clock, is_clock_realtime_after_setns_into_a_time_namespace)
{
	static const char *const offsets[] = {
		"monotonic 86400 0\n", "monotonic 0 20000000\n", "monotonic -1 0\n",
	};
	unsigned long long last;
	trace_attr_t attr;
	struct event event;
	trace_id_t trid;
	int status;
	pid_t pid;

	PXT_NOT_WITH_TSAN("has a thread, and one with threads cannot enter a namespace");
	for (size_t n = 0; n < sizeof(offsets) / sizeof(offsets[0]); n++) {
		ASSERT_EQ(0, posix_trace_attr_init(&attr));
		ASSERT_EQ(0, posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
		ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 256 << 10));
		ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		last = clock_ns();
		pid = fork();
		if (pid == 0)
			_exit(record_after_setns(offsets[n]));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
		for (int i = 0; i <= AFTER_SETNS; i++) {
			ASSERT_EQ(1, take_user(trid, &event));
			ASSERT_EQ(i, event_number(&event));
			ASSERT_LE(last, event_time(&event));
			last = event_time(&event);
		}
		EXPECT_GE(clock_ns(), last);
		EXPECT_EQ(0, posix_trace_shutdown(trid));
	}
}

TEST_HARNESS_MAIN
