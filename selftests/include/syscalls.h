/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the system calls of a child, as a debugger: those between two signposts.
 */
#ifndef _SELFTESTS_SYSCALLS_H
#define _SELFTESTS_SYSCALLS_H

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "process.h"

/* No other code calls this one. */
#define SIGNPOST	SYS_getpgrp

struct syscalls {
	int all;
	int opens;
	int ioctls;
	int status;		/* of the child */
};

/* Called in the child, at the start and at the end of the counted part. */
static inline void signpost(void)
{
	syscall(SIGNPOST);
}

static inline void count_call(struct syscalls *calls, unsigned long long nr)
{
	calls->all++;
	calls->opens += nr == SYS_openat || nr == SYS_open;
	calls->ioctls += nr == SYS_ioctl;
}

/*
 * Continues a child that has called PTRACE_TRACEME and stopped, and counts until it ends.
 * Returns 0 or negative errno.
 */
static inline int count_syscalls(struct syscalls *calls, pid_t pid)
{
	struct __ptrace_syscall_info info;
	int counting = 0, status, signal = 0;

	*calls = (struct syscalls){ .status = -1 };
	if (ptrace(PTRACE_SETOPTIONS, pid, 0,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)))
		return -errno;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, (void *)(long)signal))
			return -errno;
		if (waitpid(pid, &status, 0) != pid)
			return -errno;
		if (!WIFSTOPPED(status)) {
			calls->status = status;
			return 0;
		}
		signal = 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			signal = WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
			return -errno;
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == SIGNPOST)
			counting = !counting;
		else if (counting)
			count_call(calls, info.entry.nr);
	}
}

#endif /* _SELFTESTS_SYSCALLS_H */
