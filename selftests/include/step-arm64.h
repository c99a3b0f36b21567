/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single-steps a thread with a debugger, because a program cannot set the step flag of this CPU.
 * The debugger is a separate process that is created before main(): if it were created later, it
 * would be a traced process as well.
 *
 * After each instruction the debugger delivers SIGTRAP. The handler ends with a breakpoint, where
 * the debugger restores the registers of the interrupted code.
 */
#ifndef _SELFTESTS_STEP_ARM64_H
#define _SELFTESTS_STEP_ARM64_H

#include <linux/elf.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>

/* Makes a system call directly. Returns negative errno on failure. */
static long steps_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile ("svc #0"
		: "+r" (x0)
		: "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5)
		: "memory");
	return x0;
}

static struct steps {
	/* The stepped thread sets @on and @paused. The debugger reads both with one access. */
	int on;
	int paused;		/* set while all signals are blocked */
	int in_step;
	void (*in_handler)(void);
	unsigned long resume;	/* address at which the debugger must resume */
} the_steps, *const steps = &the_steps;

/* In memory that both processes share. */
static struct steps_debugger {
	int thread;		/* thread to step, or 0; the debugger waits until it is set */
	int answer;		/* from the debugger: 1 if it steps the thread, or -errno */
	struct steps_seen seen;
} *debugger;

static void steps_wait_while(int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, NULL);
}

static void steps_set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, 1);
}

/* The registers that the return from a signal handler restores. The signal mask is separate. */
struct steps_registers {
	struct user_regs_struct regs;
	char sve[16384];	/* SVE registers of any size, or only the FP registers */
	size_t sve_size;
	int sve_type;
};

static long steps_regs(int request, pid_t thread, int type, void *regs, size_t *size)
{
	struct iovec io = { .iov_base = regs, .iov_len = *size };
	long ret = ptrace(request, thread, (void *)(long)type, &io);

	*size = io.iov_len;
	return ret;
}

static long steps_save(pid_t thread, struct steps_registers *to)
{
	size_t size = sizeof(to->regs);

	if (steps_regs(PTRACE_GETREGSET, thread, NT_PRSTATUS, &to->regs, &size))
		return -1;
	to->sve_type = NT_ARM_SVE;
	to->sve_size = sizeof(to->sve);
	if (!steps_regs(PTRACE_GETREGSET, thread, to->sve_type, to->sve, &to->sve_size))
		return 0;
	to->sve_type = NT_PRFPREG;
	to->sve_size = sizeof(to->sve);
	return steps_regs(PTRACE_GETREGSET, thread, to->sve_type, to->sve, &to->sve_size);
}

static long steps_restore(pid_t thread, struct steps_registers *from)
{
	size_t size = sizeof(from->regs);

	return steps_regs(PTRACE_SETREGSET, thread, NT_PRSTATUS, &from->regs, &size) ||
	       steps_regs(PTRACE_SETREGSET, thread, from->sve_type, from->sve, &from->sve_size);
}

/* Resumes the thread until it stops. Returns the stop signal, or 0 if the thread ended. */
static int steps_go_on(int request, pid_t thread, int signal)
{
	int status;

	if (ptrace(request, thread, NULL, (void *)(long)signal) ||
	    waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
		return 0;
	return WSTOPSIG(status);
}

/*
 * Runs the handler, then returns to @at. Also delivers signals that arrive while the handler runs.
 */
static int steps_run_handler(pid_t thread, struct steps_registers *at)
{
	int signal = SIGTRAP;
	siginfo_t info;

	for (;;) {
		signal = steps_go_on(PTRACE_CONT, thread, signal);
		if (!signal || ptrace(PTRACE_GETSIGINFO, thread, NULL, &info))
			return 0;
		if (signal == SIGTRAP && info.si_code == TRAP_BRKPT) {
			at->regs.pc = (unsigned long)ptrace(PTRACE_PEEKDATA, thread,
							    &the_steps.resume, NULL);
			return steps_restore(thread, at) ? 0 : SIGTRAP;
		}
		/* The breakpoint is a ptrace stop, not a signal to deliver. */
		if (signal == SIGTRAP)
			signal = 0;
	}
}

static bool steps_are_on(pid_t thread, bool *paused)
{
	unsigned long both;

	errno = 0;
	both = (unsigned long)ptrace(PTRACE_PEEKDATA, thread, &the_steps, NULL);
	*paused = both >> 32;
	return !errno && (int)both;
}

static void steps_through(pid_t thread)
{
	static struct steps_registers at;
	int signal, status;
	siginfo_t info;
	bool paused;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) ||
	    waitpid(thread, &status, __WALL) != thread) {
		steps_set(&debugger->answer, -errno);
		return;
	}
	steps_set(&debugger->answer, 1);
	signal = SIGTRAP;
	while (signal && steps_are_on(thread, &paused)) {
		/* Deliver all signals except those of the steps. */
		signal = steps_go_on(PTRACE_SINGLESTEP, thread, signal == SIGTRAP ? 0 : signal);
		if (signal != SIGTRAP || ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) ||
		    info.si_code != TRAP_TRACE || !steps_are_on(thread, &paused) || paused)
			continue;
		if (!steps_save(thread, &at) && !steps_seen_enough(&debugger->seen, at.regs.pc))
			signal = steps_run_handler(thread, &at);
	}
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
}

static void __attribute__((__constructor__)) steps_start_debugger(void)
{
	const pid_t parent = getpid();
	void *shared = mmap(NULL, sizeof(*debugger), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		_exit(127);
	debugger = shared;
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		steps_wait_while(&debugger->thread, 0);
		steps_through(debugger->thread);
		steps_set(&debugger->thread, 0);
	}
	_exit(0);
}

/* Does this process have a debugger? A child that the handler has forked has none. */
static bool steps_am_i_debugged(void)
{
	return __atomic_load_n(&debugger->thread, __ATOMIC_SEQ_CST) == (int)syscall(SYS_gettid);
}

/* The code may resume elsewhere, because the kernel may have aborted a restartable sequence. */
static void steps_handler(int signal, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)signal;
	(void)info;
	steps->resume = ((ucontext_t *)context)->uc_mcontext.pc;
	if (steps->on) {
		steps->in_step = 1;
		steps->in_handler();
		steps->in_step = 0;
	}
	errno = saved_errno;
	if (steps_am_i_debugged())
		__asm__ volatile ("brk #0x7ace");
}

/* Waits until the debugger has detached. */
static inline void steps_end(void)
{
	__atomic_store_n(&steps->on, 0, __ATOMIC_SEQ_CST);
	while (!steps->in_step && steps_am_i_debugged())
		sched_yield();
}

/* Starts the steps. The first handler runs after this function. */
static inline int steps_begin(void (*in_handler)(void))
{
	/* If a step or breakpoint hits a blocked signal, the kernel resets the handler. */
	struct sigaction action = {
		.sa_sigaction = steps_handler,
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	if (sigaction(SIGTRAP, &action, NULL))
		return -errno;
	memset(&debugger->seen, 0, sizeof(debugger->seen));
	*steps = (struct steps){ .on = 1, .paused = 1, .in_handler = in_handler };
	debugger->answer = 0;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	steps_set(&debugger->thread, (int)syscall(SYS_gettid));
	steps_wait_while(&debugger->answer, 0);
	if (debugger->answer < 0)
		return debugger->answer;
	__atomic_store_n(&steps->paused, 0, __ATOMIC_SEQ_CST);
	return 0;
}

static inline void steps_pause(void)
{
	steps->paused = 1;
}

static inline void steps_continue(void)
{
	steps->paused = 0;
}

#endif /* _SELFTESTS_STEP_ARM64_H */
