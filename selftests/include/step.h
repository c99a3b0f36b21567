/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a signal handler after every instruction of a thread. Include this header in only one file
 * of a program. It is not in selftests/support, because its functions would then replace those of
 * the C library in all test programs.
 */
#ifndef _SELFTESTS_STEP_H
#define _SELFTESTS_STEP_H

#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Limit of handlers for the same instruction, because it may be in a long loop. */
#define STEPS_HITS	32

struct steps_seen {
	struct {
		unsigned long ip;
		int hits;
	} at[1 << 14];
};

static inline bool steps_seen_enough(struct steps_seen *seen, unsigned long ip)
{
	const size_t size = sizeof(seen->at) / sizeof(seen->at[0]);
	size_t at = ip % size, left;

	for (left = size; left && seen->at[at].ip && seen->at[at].ip != ip; left--)
		at = (at + 1) % size;
	if (!left)
		return true;
	seen->at[at].ip = ip;
	return seen->at[at].hits++ >= STEPS_HITS;
}

#if defined(__x86_64__)
#define HAVE_STEPS
#include "step-x86.h"
#elif defined(__aarch64__)
#define HAVE_STEPS
#include "step-arm64.h"
#endif

#ifdef HAVE_STEPS
/*
 * Should a slow handler act after step @step? It acts less and less often, because a fork takes
 * long on a debug kernel. Different values of @shift select different steps.
 */
static inline bool steps_due(int step, int shift)
{
	return (step + shift) % (3 + step / 100) == 0;
}

/*
 * Changes the signal mask. Pauses the steps while the trap is blocked, because no handler can run
 * then.
 */
static long steps_sigprocmask(int how, const __u64 *set, __u64 *old, size_t size)
{
	const __u64 trap = 1ULL << (SIGTRAP - 1);
	const bool has_trap = set && *set & trap;
	__u64 without_trap;
	long ret;

	if (steps->on && !steps->in_step && has_trap && how != SIG_UNBLOCK) {
		steps_pause();
		without_trap = *set & ~trap;
		set = &without_trap;
	}
	ret = steps_syscall(SYS_rt_sigprocmask, how, (long)set, (long)old, (long)size, 0, 0);
	if (steps->paused && !steps->in_step && set && !has_trap)
		steps_continue();
	return ret;
}

/* Replaces the function of the C library, which our library calls. */
long syscall(long number, ...)
{
	va_list list;
	long arg[6], ret;

	va_start(list, number);
	for (size_t i = 0; i < sizeof(arg) / sizeof(arg[0]); i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_rt_sigprocmask)
		ret = steps_sigprocmask((int)arg[0], (const __u64 *)arg[1], (__u64 *)arg[2],
					(size_t)arg[3]);
	else
		ret = steps_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

/*
 * Replaces another function of the C library. The original retries if the clock has ticked during
 * the call. With a trap after each instruction, it would retry forever on a slow machine.
 */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	return (int)syscall(SYS_clock_gettime, clock, time);
}
#endif /* HAVE_STEPS */

#endif /* _SELFTESTS_STEP_H */
