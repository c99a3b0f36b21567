// SPDX-License-Identifier: GPL-2.0
/*
 * Searches for leaks at the end of each test case. AddressSanitizer searches at exit(), but the
 * harness runs each case in a child that ends by _exit(). This file replaces _exit() in all
 * programs of the run with AddressSanitizer. It is not used with ThreadSanitizer.
 * __lsan_is_turned_off() in options.c decides where no search is possible.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sanitizer/lsan_interface.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The process that runs the cases, if this program is a test */
static pid_t harness;

static void __attribute__((constructor)) note_the_harness(void)
{
	const char *suffix = strrchr(program_invocation_short_name, '_');

	if (suffix && !strcmp(suffix, "_test"))
		harness = getpid();
}

/*
 * Is this process a test case? Processes that a case creates have a different parent. They are not
 * searched, because they may share the memory of the case (vfork()), or end at any point.
 */
static int is_a_case(void)
{
	return harness && getpid() != harness && getppid() == harness;
}

/*
 * The leak search creates a process that attaches to this one, so both must be in the same PID
 * namespace.
 */
static int can_be_searched(void)
{
	char own[64] = "", children[64] = "";

	return readlink("/proc/self/ns/pid", own, sizeof(own) - 1) > 0 &&
	       readlink("/proc/self/ns/pid_for_children", children, sizeof(children) - 1) > 0 &&
	       !strcmp(own, children);
}

void _exit(int status)
{
	/*
	 * A report of leaks already counts as a failure (see selftests/vm/guest-check), so keep the
	 * exit status.
	 */
	if (is_a_case() && can_be_searched())
		__lsan_do_recoverable_leak_check();
	for (;;)
		syscall(SYS_exit_group, status);
}
