// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with kernel events turn tracepoints on and off. For that, the kernel interrupts every
 * processor. The module limits how often streams can cause this, and other streams must not wait
 * for it.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "pxt_test.h"
#include "calls.h"
#include "credentials.h"
#include "module.h"
#include "process.h"
#include "textfile.h"
#include "uapi.h"

#define PARAMETER	"/sys/module/posixtrace/parameters/user_streams"
#define ALICE		1000

/* Classes that every user may record. */
#define CLASSES		(POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS | \
			 POSIXTRACE_CLASS_SIGNAL)

/*
 * The test and its children run on the first processor, and count the interrupts of the other one.
 */
#define HERE		0
#define OTHER		1

#define CYCLES		20

/*
 * Number of interrupts that turning on all tracepoints of the module may cause. The kernel also
 * interrupts idle processors for its own reasons.
 */
#define CALLS_ALL	1000
#define CALLS_IDLE	(CYCLES * 10)

static long long calls(void)
{
	long long counts[CPUS_MAX];

	return count_calls(counts) > OTHER ? counts[OTHER] : -1;
}

/* Creates a stream with these classes. Returns its descriptor, or negative errno. */
static int create(__u64 classes)
{
	struct posixtrace_create arg;
	int fd = device_open(), err;

	if (fd < 0)
		return fd;
	create_init(&arg, 0);
	arg.attr.classes = classes;
	arg.attr.stream_size = 0;
	err = command(fd, POSIXTRACE_IOC_CREATE, &arg);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int create_and_close(__u64 classes)
{
	int fd = create(classes);

	return fd < 0 ? fd : close(fd);
}

/* Starts with a module that has turned no tracepoint on. */
FIXTURE(tracepoints)
{
};

FIXTURE_SETUP(tracepoints)
{
	if (access(MODULE_FILE, R_OK))
		PXT_SKIP_IN_SETUP("no " MODULE_FILE ": use \"make check\"");
	ASSERT_LE(0, calls());
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, module_load());
	ASSERT_EQ(HERE, run_on(HERE));
}

FIXTURE_TEARDOWN(tracepoints)
{
}

TEST_F(tracepoints, streams_in_a_loop_turn_each_of_them_on_only_once)
{
	__u64 classes = device_classes();
	long long before = calls(), first;

	ASSERT_EQ(CLASSES, classes & CLASSES);
	ASSERT_EQ(0, create_and_close(classes));
	first = calls() - before;
	EXPECT_GT(CALLS_ALL, first);
	for (int i = 0; i < CYCLES; i++)
		ASSERT_EQ(0, create_and_close(classes));
	EXPECT_GT(CALLS_IDLE, calls() - before - first) {
		TH_LOG("the first stream: %lld calls", first);
	}
}

static int be_refused(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	if (become_user(ALICE))
		return 1;
	for (int i = 0; i < CYCLES; i++) {
		if (create(CLASSES) != -EAGAIN)
			return 2;
	}
	return 0;
}

TEST_F(tracepoints, user_without_a_free_stream_turns_none_of_them_on)
{
	long long before = calls();
	struct child child;

	ASSERT_EQ(0, write_text(PARAMETER, "0"));
	ASSERT_EQ(0, child_start(&child, be_refused, NULL));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
	EXPECT_GT(CALLS_IDLE, calls() - before);
	EXPECT_EQ(0, write_text(PARAMETER, "64"));
}

/* ------------------------------------------------------------------ */
/* How long they stay on						*/

/* Seconds for which the tracepoints of system calls remain on after their last stream has ended. */
#define KEPT		10

/* Returns the number of interrupts that a stream for system calls causes. */
static long long calls_of_one(void)
{
	long long before = calls();

	return create_and_close(POSIXTRACE_CLASS_SYSCALL) ? -1 : calls() - before;
}

TEST_F(tracepoints, of_system_calls_are_turned_off_ten_seconds_after_their_last_stream)
{
	long long first = calls_of_one();

	ASSERT_LT(8, first);
	EXPECT_GT(first / 2, calls_of_one());
	sleep(KEPT + 5);
	EXPECT_LE(first / 2, calls_of_one());
}

/* ------------------------------------------------------------------ */
/* Other streams							*/

#define ROUNDS		31

/* Creates and ends streams with these classes until it is killed. */
static int create_often(void *arg, const struct talk *talk)
{
	const __u64 *classes = arg;

	if (run_on(HERE) < 0)
		return 1;
	say(talk, 0);
	while (!create_and_close(*classes))
		;
	return 2;
}

static int compare(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return (x > y) - (x < y);
}

/*
 * Returns the median time, in ns, to create and end a stream while create_often() runs; 0 on
 * failure.
 */
static unsigned long long stream_beside(__u64 classes)
{
	unsigned long long took[ROUNDS], begin;
	struct child child;
	int i, fd;

	if (child_start(&child, create_often, &classes) || hear(&child.talk))
		return 0;
	for (i = 0; i < ROUNDS; i++) {
		begin = clock_now(CLOCK_MONOTONIC);
		fd = create(POSIXTRACE_CLASS_SIGNAL);
		if (fd < 0)
			break;
		command(fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
		took[i] = clock_now(CLOCK_MONOTONIC) - begin;
		close(fd);
	}
	child_kill(&child);
	if (i < ROUNDS)
		return 0;
	qsort(took, ROUNDS, sizeof(took[0]), compare);
	return took[ROUNDS / 2];
}

TEST_F(tracepoints, no_stream_waits_for_tracepoints_of_another_one)
{
	unsigned long long beside_plain, beside_kernel;
	/* This stream keeps its tracepoints on. */
	int fd = create(POSIXTRACE_CLASS_SIGNAL);

	ASSERT_LE(0, fd);
	ASSERT_EQ(OTHER, run_on(OTHER));
	beside_plain = stream_beside(0);
	beside_kernel = stream_beside(device_classes() & ~(__u64)POSIXTRACE_CLASS_SIGNAL);
	ASSERT_LT(0, beside_plain);
	ASSERT_LT(0, beside_kernel);
	TH_LOG("%llu ns beside plain streams, %llu ns", beside_plain, beside_kernel);
	EXPECT_GT(10 * beside_plain, beside_kernel);
	close(fd);
}

TEST_HARNESS_MAIN
