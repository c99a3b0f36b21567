/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A signal handler after every single instruction of a thread. Include it in one file of a
 * program: from selftests/support, the linker would take the replaced functions of the C library
 * for all programs.
 */
#ifndef _SELFTESTS_STEP_H
#define _SELFTESTS_STEP_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The maximum number of handlers after one instruction, as a loop may be long. */
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
 * For a slow handler: should it act after this step, the @step-th of the interrupted code?
 * Increasingly seldom, since a fork takes long on a debug kernel. @shift selects other
 * steps in another call.
 */
static inline bool steps_due(int step, int shift)
{
	return (step + shift) % (3 + step / 100) == 0;
}

/*
 * Replaces the C library's function, which the library calls: no step may happen while all
 * signals are blocked, since no handler can run then.
 */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	const bool has_trap = set && sigismember(set, SIGTRAP);
	sigset_t without_trap;
	long ret;

	if (steps->on && !steps->in_step && has_trap && how != SIG_UNBLOCK) {
		steps_pause();
		without_trap = *set;
		sigdelset(&without_trap, SIGTRAP);
		set = &without_trap;
	}
	ret = syscall(SYS_rt_sigprocmask, how, set, old, _NSIG / 8);
	if (steps->paused && !steps->in_step && set && !has_trap)
		steps_continue();
	return ret ? errno : 0;
}

/*
 * Also replaces the C library's function, which retries if the clock has ticked meanwhile.
 * With a trap after each instruction, on a slow machine, it always has.
 */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	return (int)syscall(SYS_clock_gettime, clock, time);
}
#endif /* HAVE_STEPS */

#endif /* _SELFTESTS_STEP_H */
