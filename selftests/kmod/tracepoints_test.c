// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with kernel events turn tracepoints on and off. For that, the kernel interrupts every
 * processor. The module limits how often streams can cause this, and other streams must not wait
 * for it.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

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

/* The other tracepoints remain on for 60 seconds. Check some time that is well after KEPT. */
#define KEPT_OTHERS	20

/* Returns the number of interrupts that a stream with these classes causes. */
static long long calls_of_one(__u64 classes)
{
	long long before = calls();

	return create_and_close(classes) ? -1 : calls() - before;
}

TEST_F(tracepoints, of_system_calls_are_turned_off_ten_seconds_after_their_last_stream)
{
	long long first = calls_of_one(POSIXTRACE_CLASS_SYSCALL);

	ASSERT_LT(8, first);
	EXPECT_GT(first / 2, calls_of_one(POSIXTRACE_CLASS_SYSCALL));
	sleep(KEPT + 5);
	EXPECT_LE(first / 2, calls_of_one(POSIXTRACE_CLASS_SYSCALL));
}

TEST_F_TIMEOUT(tracepoints, of_other_classes_remain_on_longer, 60)
{
	long long first = calls_of_one(CLASSES);

	ASSERT_LT(8, first);
	sleep(KEPT_OTHERS);
	EXPECT_GT(first / 2, calls_of_one(CLASSES));
}

/* ------------------------------------------------------------------ */
/* Other streams							*/

/* Number of times that a test looks at other streams while tracepoints are turned on. */
#define TRIES		5

/* Shared by the test and its children. */
static struct {
	int begun;	/* the child is about to create a stream that turns tracepoints on */
	int done;	/* it has done so */
} *scene;

static int begin_scene(void)
{
	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	return scene == MAP_FAILED ? -errno : 0;
}

/* Creates one stream with these classes. */
static int create_kernel_stream(void *arg, const struct talk *talk)
{
	const __u64 *classes = arg;
	int fd;

	if (run_on(HERE) < 0)
		return 1;
	say(talk, 0);
	hear(talk);
	__atomic_store_n(&scene->begun, 1, __ATOMIC_RELEASE);
	fd = create(*classes);
	__atomic_store_n(&scene->done, 1, __ATOMIC_RELEASE);
	return fd < 0 ? 2 : 0;
}

/*
 * Returns how many streams were created and ended while a child turned on the tracepoints of
 * @classes, or a negative number.
 */
static int streams_beside(__u64 classes)
{
	struct child child;
	int count = 0, fd;
	bool begun;

	scene->begun = 0;
	scene->done = 0;
	if (child_start(&child, create_kernel_stream, &classes) || hear(&child.talk))
		return -1;
	say(&child.talk, 0);
	while (!LOAD(scene->done)) {
		begun = LOAD(scene->begun);
		fd = create(POSIXTRACE_CLASS_SIGNAL);
		if (fd < 0)
			break;
		command(fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
		close(fd);
		count += begun && !LOAD(scene->done);
	}
	return child_wait(&child) ? -2 : count;
}

/*
 * The kernel turns on the tracepoints of one class after another, and a stream that waits for them
 * could end in between. Without the wait, many more streams end.
 */
TEST_F_TIMEOUT(tracepoints, no_stream_waits_for_tracepoints_of_another_one, 60)
{
	__u64 classes = device_classes() & ~(__u64)POSIXTRACE_CLASS_SIGNAL;
	int enough = 2 * __builtin_popcountll(classes), count = 0, fd;

	ASSERT_EQ(0, begin_scene());
	ASSERT_EQ(OTHER, run_on(OTHER));
	for (int i = 0; i < TRIES && count <= enough; i++) {
		ASSERT_EQ(0, module_unload());
		ASSERT_EQ(0, module_load());
		/* This stream turns on the tracepoints that streams_beside() needs. */
		fd = create(POSIXTRACE_CLASS_SIGNAL);
		ASSERT_LE(0, fd);
		count = streams_beside(classes);
		ASSERT_LE(0, count);
		close(fd);
	}
	EXPECT_LT(enough, count);
}

/* ------------------------------------------------------------------ */
/* A stream that has to wait						*/

#define HOLD		"pxt_hold"
#define HOLD_MS		1000

/* Makes the kernel slow when the calling thread turns on its first tracepoint. */
static int load_hold(void)
{
	int fd = open("/run/vm/" HOLD ".ko", O_RDONLY | O_CLOEXEC);
	char params[64];
	int err;

	if (fd < 0)
		return -errno;
	snprintf(params, sizeof(params), "tid=%d hold_ms=%d", gettid(), HOLD_MS);
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

/* Is a thread being held, or was it? */
static bool hold_begun(void)
{
	char text[16] = "";
	int fd = open("/sys/module/" HOLD "/parameters/held", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	return atoi(text);
}

static int unload_hold(void)
{
	return syscall(SYS_delete_module, HOLD, O_NONBLOCK) ? -errno : 0;
}

static int create_slowly(void *arg, const struct talk *talk)
{
	int err = load_hold();

	if (err)
		return 1;
	err = create_kernel_stream(arg, talk);
	return unload_hold() ? 3 : err;
}

static int create_other(void *arg, const struct talk *talk)
{
	const __u64 *classes = arg;

	say(talk, 0);
	hear(talk);
	return create(*classes) < 0;
}

TEST_F(tracepoints, fatal_signal_ends_the_wait_for_them)
{
	__u64 slow = POSIXTRACE_CLASS_SIGNAL, other = POSIXTRACE_CLASS_PROCESS;
	struct child child, waiter;
	int status;

	ASSERT_EQ(0, begin_scene());
	ASSERT_EQ(OTHER, run_on(OTHER));
	ASSERT_EQ(0, child_start(&waiter, create_other, &other));
	ASSERT_EQ(0, hear(&waiter.talk));
	ASSERT_EQ(0, child_start(&child, create_slowly, &slow));
	ASSERT_EQ(0, hear(&child.talk));
	say(&child.talk, 0);
	while (!hold_begun())
		sched_yield();
	say(&waiter.talk, 0);
	while (thread_state(waiter.pid) != 'D' && !LOAD(scene->done))
		sched_yield();
	EXPECT_EQ(0, kill(waiter.pid, SIGKILL));
	status = child_wait(&waiter);
	/* The other stream still holds the lock. */
	EXPECT_EQ(0, LOAD(scene->done));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
