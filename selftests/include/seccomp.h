/* SPDX-License-Identifier: GPL-2.0 */
/* Filters that make commands of the module fail with a chosen error. */
#ifndef _SELFTESTS_SECCOMP_H
#define _SELFTESTS_SECCOMP_H

#include <linux/posixtrace.h>
#include <stdbool.h>

#define SECCOMP_COMMANDS_MAX	8

/* The refused commands; all of ioctl() if the list is empty. */
struct refusal {
	unsigned long commands[SECCOMP_COMMANDS_MAX];
	int err;
	bool notify;		/* a listening process answers instead */
	bool trap;		/* a handler of SIGSYS answers instead */
	bool kill;		/* the thread is killed instead */
	bool stat;		/* stat() and fstat() also fail */
};

/* Applies to the rest of this process. Returns 0, a listener descriptor, or negative errno. */
int refuse_commands(const struct refusal *refusal);

/*
 * Applies to the rest of this thread: only read(), write() and exit() are permitted. @action is
 * SECCOMP_RET_*, @flags is for seccomp(). Returns 0 or negative errno.
 */
int permit_pipes_only(__u32 action, unsigned int flags);

#endif /* _SELFTESTS_SECCOMP_H */
