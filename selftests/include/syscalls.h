/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts, with ptrace, the system calls that a child makes between two signposts.
 */
#ifndef _SELFTESTS_SYSCALLS_H
#define _SELFTESTS_SYSCALLS_H

#include <sys/syscall.h>

#include "process.h"

/* The signpost: a system call that the tests make nowhere else. */
#define SIGNPOST	SYS_getpriority

struct syscalls {
	int all;
	int opens;
	int ioctls;
	int status;		/* wait status of the child */
};

/* Marks the start and the end of the counted part, in the child. */
static inline void signpost(void)
{
	syscall(SIGNPOST);
}

/*
 * Resumes a child that has called PTRACE_TRACEME and stopped, and counts until it ends. Returns 0
 * or negative errno.
 */
int count_syscalls(struct syscalls *calls, pid_t pid);

#endif /* _SELFTESTS_SYSCALLS_H */
