// SPDX-License-Identifier: GPL-2.0
/*
 * A traced process has closed all descriptors, can no longer open the device, and has no door. It
 * must stop recording and keep running, at almost no cost. When the device is available again, the
 * process must record again.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "foreign.h"
#include "no_door.h"
#include "pxt_test.h"
#include "sequences.h"
#include "reading.h"
#include "syscalls.h"

#define NOBODY_ID	65534
#define EVENTS	100000

/* Minimum time in milliseconds between two attempts to attach. */
#define PAUSE	100

/*
 * System calls of an attempt, including the unmapping before it. A sanitizer makes additional
 * calls.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALLS_OF_ATTEMPT	64
#else
#define CALLS_OF_ATTEMPT	16
#endif

/* Changes the root to an empty directory, where the device does not exist. */
static int lose_by_chroot(void)
{
	char root[] = "/tmp/lost_device_XXXXXX";

	if (!mkdtemp(root) || chroot(root) || chdir("/"))
		return -1;
	return 0;
}

/* The device exists, but the process may not open it. */
static int lose_by_rights(void)
{
	if (chmod(DEVICE, 0600) || setgid(NOBODY_ID) || setuid(NOBODY_ID))
		return -1;
	return 0;
}

static int lose_by_limit(void)
{
	const struct rlimit none = { 0, 0 };

	return setrlimit(RLIMIT_NOFILE, &none);
}

/* Replaces the device by a different one, which answers ATTACH in an invalid way. */
static int lose_by_another_device(void)
{
	if (lose_by_chroot() || mkdir("dev", 0755) ||
	    mknod(DEVICE, S_IFCHR | 0666, makedev(1, 3)))
		return -1;
	return 0;
}

FIXTURE(lost)
{
	int unused;
};

FIXTURE_VARIANT(lost)
{
	int (*lose)(void);
};

FIXTURE_VARIANT_ADD(lost, chroot) { lose_by_chroot };
FIXTURE_VARIANT_ADD(lost, rights) { lose_by_rights };
FIXTURE_VARIANT_ADD(lost, limit) { lose_by_limit };
FIXTURE_VARIANT_ADD(lost, another_device) { lose_by_another_device };

FIXTURE_SETUP(lost)
{
	self->unused = 0;
}

/* Restores the mode of the device, which lose_by_rights() changes for all processes. */
FIXTURE_TEARDOWN(lost)
{
	chmod(DEVICE, 0666);
}

/* Runs in a child, which a stream of the test traces. */
static int record_without_device(int (*lose)(void))
{
	struct foreign file;
	long long end;
	int target = -1;

	/* A process that uses restartable sequences would no longer need the device. */
	if (forgo_sequences())
		return 1;
	record_number(0);
	if (count_device_fds(&target) != 1)
		return 1;
	/* The controller waits for this stop, so from here on the process is traced. */
	raise(SIGSTOP);
	record_number(1);
	if (foreign_place(&file, FOREIGN_FILE, target, 0))
		return 2;
	if (lose())
		return 3;
	signpost();
	errno = 4711;
	/* Record at least EVENTS events, and for several pauses. */
	end = coarse_now() + 5 * PAUSE;
	for (int i = 2; i < EVENTS || coarse_now() < end; i++)
		record_number(i);
	/* The machine may have been suspended for most of that time, so record one more event. */
	record_number(EVENTS);
	if (errno != 4711)
		return 4;
	signpost();
	return foreign_check(&file)[0] ? 5 : 0;
}

/* Creates a stream on the child when the child stops. */
static int count_traced(struct syscalls *calls, int (*lose)(void), trace_id_t *trid)
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(255);
		_exit(record_without_device(lose));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    new_stream(pid, POSIX_TRACE_LOOP, trid) || posix_trace_start(*trid))
		return -ECHILD;
	return count_syscalls(calls, pid);
}

TEST_F(lost, events_are_lost_at_no_cost)
{
	struct syscalls calls;
	struct event event;
	trace_id_t trid;
	long long before = coarse_now();
	int attempts = 1;

	ASSERT_EQ(0, count_traced(&calls, variant->lose, &trid));
	EXPECT_EQ(0, calls.status);
	/* Without an attempt, the test would be meaningless. */
	EXPECT_LE(2, calls.opens);
	attempts += 1 + (coarse_now() - before) / PAUSE;
	EXPECT_GE(attempts, calls.opens);
	EXPECT_GE(attempts * CALLS_OF_ATTEMPT, calls.all);

	/* This event was recorded before the loss. */
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(1, event_number(&event));
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static int keep_and_record(void *arg, const struct talk *talk)
{
	int (**lose)(void) = arg;
	struct event event;
	trace_id_t trid;

	(void)talk;
	if (new_stream(0, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return 1;
	record_number(1);
	if ((*lose)())
		return 2;
	record_number(2);
	for (int i = 1; i <= 2; i++) {
		if (take_user(trid, &event) != 1 || event_number(&event) != i)
			return 2 + i;
	}
	return posix_trace_shutdown(trid) ? 5 : 0;
}

/* The process loses access to the device, but keeps its open descriptor. */
TEST_F(lost, process_with_its_descriptor_keeps_recording)
{
	int (*lose)(void) = variant->lose;
	struct child child;

	ASSERT_EQ(0, child_start(&child, keep_and_record, &lose));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* The device comes back						*/

FIXTURE(back)
{
	struct stat device;
	trace_id_t trid;
	int target;
};

FIXTURE_SETUP(back)
{
	ASSERT_EQ(0, stat(DEVICE, &self->device));
	ASSERT_EQ(0, forgo_sequences());
	record_number(0);
	ASSERT_EQ(1, count_device_fds(&self->target));
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	record_number(1);
	close(self->target);
}

FIXTURE_TEARDOWN(back)
{
	posix_trace_shutdown(self->trid);
}

static void record_in_vain(struct __test_metadata *_metadata, trace_id_t trid)
{
	struct event event;

	record_number(2);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(1, event_number(&event));
	EXPECT_EQ(0, take_user(trid, &event));
}

static void record_again(struct __test_metadata *_metadata, trace_id_t trid)
{
	struct event event;

	record_number(3);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(3, event_number(&event));
}

TEST_F(back, raised_limit_lets_events_in)
{
	struct rlimit limit;
	struct event event;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, lose_by_limit());
	record_in_vain(_metadata, self->trid);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	/* The process attaches again automatically, after the pause. */
	do {
		record_number(4);
	} while (!take_user(self->trid, &event));
	EXPECT_EQ(4, event_number(&event));
}

TEST_F(back, eventid_open_does_not_wait_for_the_pause)
{
	struct rlimit limit;
	trace_event_id_t id;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, lose_by_limit());
	record_in_vain(_metadata, self->trid);
	EXPECT_EQ(EMFILE, posix_trace_eventid_open("name", &id));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(0, posix_trace_eventid_open("name", &id));
	record_again(_metadata, self->trid);
}

TEST_F(back, create_does_not_wait_for_the_pause)
{
	struct rlimit limit;
	trace_id_t trid;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, lose_by_limit());
	record_in_vain(_metadata, self->trid);
	EXPECT_EQ(EMFILE, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	record_again(_metadata, self->trid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static int make_device(const struct stat *device)
{
	return mkdir("dev", 0755) || mknod(DEVICE, S_IFCHR | 0666, device->st_rdev);
}

TEST_F(back, eventid_open_finds_a_device_that_comes_back)
{
	trace_event_id_t id;

	ASSERT_EQ(0, lose_by_chroot());
	record_in_vain(_metadata, self->trid);
	EXPECT_EQ(ENODEV, posix_trace_eventid_open("name", &id));
	ASSERT_EQ(0, make_device(&self->device));
	EXPECT_EQ(0, posix_trace_eventid_open("name", &id));
	record_again(_metadata, self->trid);
}

TEST_F(back, create_finds_a_device_that_comes_back)
{
	trace_id_t trid;

	ASSERT_EQ(0, lose_by_chroot());
	record_in_vain(_metadata, self->trid);
	EXPECT_EQ(ENODEV, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, make_device(&self->device));
	EXPECT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	record_again(_metadata, self->trid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
