// SPDX-License-Identifier: GPL-2.0
/* Streams on families of processes, and all ways to create a child: see family.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <posixtrace.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "scale.h"

int rounds(int count)
{
	int scaled = count / (pxt_time_scale() * pxt_stride());

	return scaled > 1 ? scaled : 2;
}

void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void line_up(struct line *line, int count)
{
	int round = __atomic_load_n(&line->round, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&line->here, 1, __ATOMIC_ACQ_REL) == count) {
		__atomic_store_n(&line->here, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&line->round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&line->round, __ATOMIC_ACQUIRE) == round)
		sched_yield();
}

int new_family_stream(pid_t pid, int inherited, size_t size, int policy, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, size);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, 64);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, policy);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, inherited);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err;
}

int start_family_stream(pid_t pid, trace_id_t *trid)
{
	int err = new_family_stream(pid, POSIX_TRACE_INHERITED, 2 << 20, POSIX_TRACE_UNTIL_FULL,
				    trid);

	return err ? err : posix_trace_start(*trid);
}

long processes_of(trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	return posixtrace_get_stats(trid, &stats) ? -1 : (long)stats.processes;
}

long generated_for(trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	return posixtrace_get_stats(trid, &stats) ? -1 : (long)(stats.recorded + stats.dropped);
}

#define CHILD_STACK	(64 << 10)

static char *child_stack(void)
{
	static char stack[CHILD_STACK] __attribute__((__aligned__(16)));

	return stack;
}

pid_t by_fork(family_fn fn, void *arg)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn(arg));
	return pid;
}

pid_t by_vfork(family_fn fn, void *arg)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(fn(arg));
	return pid;
}

pid_t by_raw_clone(family_fn fn, void *arg)
{
	pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(fn(arg));
	return pid;
}

pid_t by_raw_clone3(family_fn fn, void *arg)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(fn(arg));
	return pid;
}

pid_t by_clone_stack(family_fn fn, void *arg)
{
	return clone(fn, child_stack() + CHILD_STACK, SIGCHLD, arg);
}

pid_t by_clone_vm(family_fn fn, void *arg)
{
	return clone(fn, child_stack() + CHILD_STACK, CLONE_VM | SIGCHLD, arg);
}

pid_t by_clone_vfork(family_fn fn, void *arg)
{
	return clone(fn, child_stack() + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, arg);
}

pid_t by_clone_files(family_fn fn, void *arg)
{
	return clone(fn, child_stack() + CHILD_STACK, CLONE_FILES | SIGCHLD, arg);
}

pid_t by_clone_newpid(family_fn fn, void *arg)
{
	return clone(fn, child_stack() + CHILD_STACK, CLONE_NEWPID | SIGCHLD, arg);
}

#ifdef __x86_64__
/* The child has a separate stack, so it cannot return from here. */
static pid_t clone3_on_stack(unsigned long flags, family_fn fn, void *arg)
{
	struct clone_args args = {
		.flags = flags,
		.exit_signal = SIGCHLD,
		.stack = (uintptr_t)child_stack(),
		.stack_size = CHILD_STACK,
	};
	long ret;

	__asm__ volatile("syscall\n\t"
		"test %%rax, %%rax\n\t"
		"jnz 1f\n\t"
		"xor %%ebp, %%ebp\n\t"
		"mov %[arg], %%rdi\n\t"
		"call *%[fn]\n\t"
		"mov %%eax, %%edi\n\t"
		"mov %[exit], %%eax\n\t"
		"syscall\n"
		"1:"
		: "=a" (ret)
		: "a" ((long)SYS_clone3), "D" (&args), "S" (sizeof(args)), [fn] "r" (fn),
		  [arg] "r" (arg), [exit] "i" (SYS_exit_group)
		: "rcx", "r11", "memory", "cc");
	return ret;
}

pid_t by_clone3_stack(family_fn fn, void *arg)
{
	return clone3_on_stack(0, fn, arg);
}

pid_t by_clone3_vm(family_fn fn, void *arg)
{
	return clone3_on_stack(CLONE_VM, fn, arg);
}
#endif

int ended(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1000;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int all_ended(void)
{
	int status, failed = 0;

	for (;;) {
		if (wait(&status) >= 0)
			failed += !!status;
		else if (errno == ECHILD)
			return failed;
	}
}

int adopt_orphans(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}
