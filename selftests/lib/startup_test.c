// SPDX-License-Identifier: GPL-2.0
/*
 * What each start of a program that is linked with the library costs, if it is not traced: at most
 * three system calls, also if the device does not exist. Its events cost none.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/ptrace.h>

#include "pxt_test.h"
#include "syscalls.h"
#include "uapi.h"

/* A sanitizer makes additional calls. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALLS_OF_OTHERS	1000
#else
#define CALLS_OF_OTHERS	0
#endif

static int hide_device(void)
{
	char dir[] = "/tmp/startup_XXXXXX";

	if (!mkdtemp(dir) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(dir, "/dev", NULL, MS_BIND, NULL))
		return -1;
	return access(DEVICE, F_OK) ? 0 : -1;
}

static int count_start(struct syscalls *calls, bool device)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) || (!device && hide_device()))
			_exit(255);
		raise(SIGSTOP);
		execl("./startup_helper", "startup_helper", NULL);
		_exit(254);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -ECHILD;
	return count_syscalls(calls, pid);
}

TEST(start_and_events_without_a_stream_take_three_system_calls)
{
	struct syscalls calls;

	ASSERT_EQ(0, count_start(&calls, true));
	EXPECT_EQ(0, calls.status);
	EXPECT_EQ(1, calls.opens);
	EXPECT_EQ(0, calls.ioctls);
	/* to open, map and close the device */
	EXPECT_LE(3, calls.all);
	EXPECT_GE(3 + CALLS_OF_OTHERS, calls.all);
}

TEST(start_without_the_device_takes_two_system_calls)
{
	struct syscalls calls;

	ASSERT_EQ(0, count_start(&calls, false));
	EXPECT_EQ(0, calls.status);
	EXPECT_EQ(0, calls.ioctls);
	/* to try to open the device, and to shut the gate */
	EXPECT_LE(2, calls.all);
	EXPECT_GE(2 + CALLS_OF_OTHERS, calls.all);
}

TEST_HARNESS_MAIN
