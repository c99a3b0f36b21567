/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A signal handler after every single instruction of a thread, by the trap flag of the CPU.
 * Include it in one file of a program: from selftests/support, the linker would take the
 * replaced functions of the C library for all programs.
 */
#ifndef _SELFTESTS_STEP_H
#define _SELFTESTS_STEP_H

#ifdef __x86_64__
#define HAVE_STEPS

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG	0x100

/* The maximum number of handlers after one instruction, as a loop may be long. */
#define STEPS_HITS	32

static struct steps {
	void (*in_handler)(void);
	int on;			/* changed by the thread, seen by the next trap */
	int paused;		/* while all signals are blocked */
	int in_step;
	struct {
		greg_t ip;
		int hits;
	} seen[1 << 14];
} steps;

static bool steps_seen_enough(greg_t ip)
{
	const size_t size = sizeof(steps.seen) / sizeof(steps.seen[0]);
	size_t at = (size_t)ip % size, left;

	for (left = size; left && steps.seen[at].ip && steps.seen[at].ip != ip; left--)
		at = (at + 1) % size;
	if (!left)
		return true;
	steps.seen[at].ip = ip;
	return steps.seen[at].hits++ >= STEPS_HITS;
}

static void steps_handler(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int saved_errno = errno;

	(void)signal;
	(void)info;
	if (steps.on && !steps_seen_enough(regs[REG_RIP])) {
		steps.in_step = 1;
		steps.in_handler();
		steps.in_step = 0;
	}
	/* Check again: the handler may have ended it. */
	if (steps.on)
		regs[REG_EFL] |= TRAP_FLAG;
	else
		regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	errno = saved_errno;
}

/*
 * For a slow handler: should it act after this step, the @step-th of the interrupted code?
 * Increasingly seldom, since a fork takes long on a debug kernel. @shift selects other
 * steps in another call.
 */
static inline bool steps_due(int step, int shift)
{
	return (step + shift) % (3 + step / 100) == 0;
}

static inline void steps_end(void)
{
	__atomic_store_n(&steps.on, 0, __ATOMIC_SEQ_CST);
}

static inline int steps_begin(void (*in_handler)(void))
{
	struct sigaction action = { .sa_sigaction = steps_handler, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGTRAP, &action, NULL))
		return -errno;
	memset(&steps, 0, sizeof(steps));
	steps.in_handler = in_handler;
	steps.on = 1;
	return raise(SIGTRAP);
}

/*
 * Replaces the C library's function, which the library calls: no step may happen while all
 * signals are blocked, since a blocked trap kills the process.
 */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	long ret;

	if (steps.on && !steps.in_step && set && how != SIG_UNBLOCK && sigismember(set, SIGTRAP)) {
		steps_end();
		steps.paused = 1;
	}
	ret = syscall(SYS_rt_sigprocmask, how, set, old, _NSIG / 8);
	if (steps.paused && !steps.in_step && set && !sigismember(set, SIGTRAP)) {
		steps.paused = 0;
		steps.on = 1;
		raise(SIGTRAP);
	}
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
#endif /* __x86_64__ */

#endif /* _SELFTESTS_STEP_H */
