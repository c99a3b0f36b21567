/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the system calls of a child, as a debugger: those between two signposts.
 */
#ifndef _SELFTESTS_SYSCALLS_H
#define _SELFTESTS_SYSCALLS_H

#include <sys/syscall.h>

#include "process.h"

/* No other code of the tests calls this one. */
#define SIGNPOST	SYS_getpriority

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

/*
 * Continues a child that has called PTRACE_TRACEME and stopped, and counts until it ends.
 * Returns 0 or negative errno.
 */
int count_syscalls(struct syscalls *calls, pid_t pid);

#endif /* _SELFTESTS_SYSCALLS_H */
