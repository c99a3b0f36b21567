// SPDX-License-Identifier: GPL-2.0
/* Counts the system calls of a child. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "syscalls.h"

static void count_call(struct syscalls *calls, unsigned long long nr)
{
	calls->all++;
	calls->opens += nr == SYS_openat;
#ifdef SYS_open
	calls->opens += nr == SYS_open;
#endif
	calls->ioctls += nr == SYS_ioctl;
}

int count_syscalls(struct syscalls *calls, pid_t pid)
{
	struct __ptrace_syscall_info info;
	int counting = 0, status, signal = 0;

	*calls = (struct syscalls){ .status = -1 };
	if (ptrace(PTRACE_SETOPTIONS, pid, 0,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
			    PTRACE_O_EXITKILL)))
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
			/* The stop of an exec is no signal. */
			if (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
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
