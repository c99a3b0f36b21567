/* SPDX-License-Identifier: GPL-2.0 */
/* Single-steps with the trap flag of the CPU. Each instruction causes SIGTRAP. */
#ifndef _SELFTESTS_STEP_X86_H
#define _SELFTESTS_STEP_X86_H

#include <ucontext.h>

#define TRAP_FLAG	0x100

/* Makes a system call directly. Returns negative errno on failure. */
static long steps_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile ("syscall"
		: "=a" (ret)
		: "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
		: "rcx", "r11", "memory");
	return ret;
}

static struct steps {
	void (*in_handler)(void);
	int on;			/* set by the thread, read at the next trap */
	int paused;		/* set while all signals are blocked */
	int in_step;
	struct steps_seen seen;
} the_steps, *const steps = &the_steps;

static void steps_handler(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int saved_errno = errno;

	(void)signal;
	(void)info;
	if (steps->on && !steps_seen_enough(&steps->seen, (unsigned long)regs[REG_RIP])) {
		steps->in_step = 1;
		steps->in_handler();
		steps->in_step = 0;
	}
	/* Check again, because the handler may have stopped the steps. */
	if (steps->on)
		regs[REG_EFL] |= TRAP_FLAG;
	else
		regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	errno = saved_errno;
}

static inline void steps_end(void)
{
	__atomic_store_n(&steps->on, 0, __ATOMIC_SEQ_CST);
}

static inline int steps_begin(void (*in_handler)(void))
{
	struct sigaction action = { .sa_sigaction = steps_handler, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGTRAP, &action, NULL))
		return -errno;
	memset(steps, 0, sizeof(*steps));
	steps->in_handler = in_handler;
	steps->on = 1;
	return raise(SIGTRAP);
}

/* Pauses the steps while signals are blocked, because a blocked trap would kill the process. */
static inline void steps_pause(void)
{
	steps_end();
	steps->paused = 1;
}

static inline void steps_continue(void)
{
	steps->paused = 0;
	steps->on = 1;
	raise(SIGTRAP);
}

#endif /* _SELFTESTS_STEP_X86_H */
