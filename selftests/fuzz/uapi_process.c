// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on processes, which start, exit, execute programs and are killed; and on their limits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "uapi_fuzz.h"

#define CHILDREN	ARRAY_SIZE(((struct objects *)NULL)->children)
#define STACK_SIZE	(64UL << 10)

/* Marks the place of a child that is about to start. */
#define NOBODY_YET	(-1)

static char stacks[CHILDREN][STACK_SIZE] __attribute__((aligned(16)));

static unsigned int number_of(const struct actor *a)
{
	return a->worker - shared->workers;
}

static bool is_child(const struct actor *a)
{
	return a->thread == THREADS_MAX;
}

/* Runs in a child: makes a few calls, then exits. */
static void run_child(struct actor *parent)
{
	struct actor a;
	struct call call;
	unsigned int i, n;

	sys(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	end_after(4);
	if (!shared->options.alone)
		interrupt_every(20);
	actor_init(&a, number_of(parent), THREADS_MAX, rnd(parent));
	a.objects = parent->objects;
	n = 1 + next_random(&a.random) % 16;
	if (next_random(&a.random) % 8 == 0)
		sys(SYS_unshare, CLONE_FILES);
	if (next_random(&a.random) % 8 == 0)
		sys(SYS_setresuid, 1000, 1000, 1000);
	for (i = 0; i < n; i++) {
		random_call(&a, &call);
		run_call(&a, &call);
	}
}

/* Finds a place in the list of children. If all places are in use, kills a child. */
static int take_place(struct actor *a)
{
	pid_t *children = a->objects->children, pid;
	unsigned int i, start = below(a, CHILDREN);

	for (i = 0; i < 2 * CHILDREN; i++) {
		unsigned int at = (start + i) % CHILDREN;

		pid = __atomic_load_n(&children[at], __ATOMIC_RELAXED);
		if (pid == NOBODY_YET)
			continue;
		if (pid > 0) {
			if (i >= CHILDREN)
				sys(SYS_kill, pid, SIGKILL);
			/* In a child process, this fails for the children of its parent. */
			if (!sys(SYS_wait4, pid, NULL, (i < CHILDREN ? WNOHANG : 0) | __WALL))
				continue;
		}
		if (__atomic_compare_exchange_n(&children[at], &pid, NOBODY_YET, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return at;
	}
	return -EAGAIN;
}

struct start {
	struct actor *actor;
	void (*run)(struct actor *a);
};

static int start_child(void *arg)
{
	struct start *start = arg;

	start->run(start->actor);
	sys(SYS_exit_group, 0);
	return 0;
}

/*
 * Starts a child. A child with separate memory uses a copy of this stack. Any other gets a new
 * stack.
 */
static long make_child(struct actor *a, unsigned long flags, void (*run)(struct actor *a))
{
	struct start start = { .actor = a, .run = run };
	int place = take_place(a);
	long pid;

	if (place < 0)
		return place;
	/*
	 * The child uses the TLS of this thread and @start, so this thread waits. Other threads
	 * continue.
	 */
	if (flags & CLONE_VM)
		flags |= CLONE_VFORK;
	if (flags & CLONE_VM) {
		pid = clone(start_child, stacks[place] + STACK_SIZE, flags | SIGCHLD, &start);
	} else {
		pid = sys(SYS_clone, flags | SIGCHLD);
		if (!pid)
			start_child(&start);
	}
	if (pid > 0 && shared->options.alone) {
		while (sys(SYS_wait4, pid, NULL, __WALL) == -EINTR)
			;
		__atomic_store_n(&a->objects->children[place], 0, __ATOMIC_RELAXED);
	} else {
		__atomic_store_n(&a->objects->children[place], pid > 0 ? pid : 0,
				 __ATOMIC_RELAXED);
	}
	return pid;
}

long op_fork(struct actor *a)
{
	return make_child(a, one_in(a, 4) ? CLONE_FILES : 0, run_child);
}

/* Starts a child with vfork(): it shares the memory while the other threads continue. */
long op_vfork(struct actor *a)
{
	return make_child(a, CLONE_VM | (one_in(a, 4) ? CLONE_FILES : 0), run_child);
}

static void execute(struct actor *a, const char *what)
{
	char number[16], seed[32];
	const char *const argv[] = { "uapi_fuzz", what, number, seed, NULL };
	const char *const envp[] = { NULL };

	snprintf(number, sizeof(number), "%u", number_of(a));
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)rnd(a));
	sys(SYS_execve, "/proc/self/exe", argv, envp);
}

static void execute_short(struct actor *a)
{
	sys(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	execute(a, "short");
}

/*
 * Starts a child that executes a program. The program makes calls with the files that it inherits.
 */
long op_exec(struct actor *a)
{
	return make_child(a, one_in(a, 2) ? CLONE_VM : 0, execute_short);
}

/* Replaces the process of the worker by executing the same program again. */
long op_exec_self(struct actor *a)
{
	if (is_child(a))
		return -EPERM;
	cover_stop(a);
	__atomic_fetch_add(&a->worker->execs, 1, __ATOMIC_RELAXED);
	/* Block signals, because the new program has no handlers at first. */
	block_signals(true);
	execute(a, "worker");
	return -ENOEXEC;
}

/* Kills one of the workers or children, whatever it is doing. */
long op_kill(struct actor *a)
{
	const struct worker *worker = &shared->workers[below(a, shared->options.workers)];
	pid_t pid = a->objects->children[below(a, CHILDREN)];

	if (shared->options.alone)
		return -EPERM;
	if (pid > 0 && !one_in(a, 32))
		return sys(SYS_kill, pid, SIGKILL);
	if (!one_in(a, 16))
		return -ESRCH;
	pid = __atomic_load_n(&worker->pid, __ATOMIC_RELAXED);
	if (pid <= 0)
		return -ESRCH;
	__atomic_fetch_add(&shared->kills, 1, __ATOMIC_RELAXED);
	return sys(SYS_kill, pid, SIGKILL);
}

/*
 * Sends a signal. The handler of SIGUSR1 restarts interrupted calls, the handler of SIGALRM does
 * not.
 */
long op_signal(struct actor *a)
{
	const struct worker *worker = &shared->workers[below(a, shared->options.workers)];
	pid_t pid = a->objects->children[below(a, CHILDREN)];

	if (shared->options.alone)
		return -EPERM;
	if (pid <= 0 || one_in(a, 2))
		pid = __atomic_load_n(&worker->pid, __ATOMIC_RELAXED);
	if (pid <= 0)
		return -ESRCH;
	return sys(SYS_kill, pid, one_in(a, 2) ? SIGUSR1 : SIGALRM);
}

/* Binds the thread to one processor or, except in a repeatable run, allows all of them. */
long op_affinity(struct actor *a)
{
	uint64_t mask = 1ULL << below(a, 4);

	if (!shared->options.alone && one_in(a, 2))
		mask = ~0ULL;
	return sys(SYS_sched_setaffinity, 0, sizeof(mask), &mask);
}

long op_limits(struct actor *a)
{
	static const uint64_t sizes[] = { 0, 65536, 1 << 20, 8 << 20, RLIM64_INFINITY };
	struct rlimit64 limit;
	int what = one_in(a, 2) ? RLIMIT_MEMLOCK : RLIMIT_FSIZE;

	if (one_in(a, 4))
		return sys(SYS_prctl, PR_SET_DUMPABLE, below(a, 2));
	if (sys(SYS_prlimit64, 0, what, NULL, &limit))
		return -EPERM;
	/*
	 * Never raise the maximum file size: files are in memory, so their size must remain
	 * limited.
	 */
	limit.rlim_cur = sizes[below(a, ARRAY_SIZE(sizes))];
	/*
	 * Mostly set the limit to its maximum, because hardly any call succeeds with lower limits.
	 */
	if (limit.rlim_cur > limit.rlim_max || !one_in(a, 4))
		limit.rlim_cur = limit.rlim_max;
	return sys(SYS_prlimit64, 0, what, &limit, NULL);
}
