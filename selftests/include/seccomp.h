/* SPDX-License-Identifier: GPL-2.0 */
/* Filters that make commands of the module fail with a chosen error. */
#ifndef _SELFTESTS_SECCOMP_H
#define _SELFTESTS_SECCOMP_H

#include <linux/posixtrace.h>
#include <stdbool.h>

#define SECCOMP_COMMANDS_MAX	8

/* Which commands to refuse, and how. If the list is empty, all ioctl() calls are refused. */
struct refusal {
	unsigned long commands[SECCOMP_COMMANDS_MAX];
	int err;
	bool notify;		/* instead of refusing, let a listening process answer */
	bool trap;		/* instead of refusing, let a handler of SIGSYS answer */
	bool kill;		/* instead of refusing, kill the thread */
	bool stat;		/* also let stat() and fstat() fail */
};

/*
 * Refuses commands for the rest of this process. Returns 0, a listener descriptor, or negative
 * errno.
 */
int refuse_commands(const struct refusal *refusal);

/*
 * For the rest of this thread, permits only read(), write() and exit(). @action is SECCOMP_RET_*,
 * @flags are those of seccomp(). Returns 0 or negative errno.
 */
int permit_pipes_only(__u32 action, unsigned int flags);

#endif /* _SELFTESTS_SECCOMP_H */
