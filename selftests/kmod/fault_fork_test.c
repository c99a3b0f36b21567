// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that fork and execute programs when memory allocation fails. Either the fork fails, or
 * the child is traced, or the child is counted as untraced. Later children are traced again.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "fault_each.h"

/* Exit status of a child. */
enum { TRACED, UNTRACED, BROKEN };

static int look_if_traced(void)
{
	struct target target;

	if (target_open(&target) || target_sync(&target))
		return BROKEN;
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		if (target.slots[i].heads.size)
			return TRACED;
	}
	return UNTRACED;
}

static int ended(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return BROKEN;
	return WEXITSTATUS(status);
}

static pid_t fork_plainly(void)
{
	pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(look_if_traced());
	return pid;
}

static int untraced(struct world *world)
{
	struct posixtrace_stats stats;

	return command(world->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats) ? -1
									   : (int)stats.untraced;
}

static int processes(struct world *world)
{
	struct posixtrace_stats stats;

	return command(world->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats) ? -1
									   : (int)stats.processes;
}

static int start(struct world *world)
{
	MUST(!stream_start(&world->stream));
	MUST(!untraced(world));
	MUST(processes(world) == 1);
	return 0;
}

/* The stream of the parent must still work, even if the child is not traced. */
static int goes_on(struct world *world)
{
	struct posixtrace_status status;

	MUST(!stream_status(&world->stream, &status));
	MUST(status.flags == POSIXTRACE_STATUS_RUNNING);
	MUST(world_gate(world));
	MUST(!target_event(&world->target, POSIXTRACE_ID_UNNAMED, "parent", 7));
	return 0;
}

/*
 * Each child must be traced, or counted as untraced. A failure may affect the next child as well,
 * but no later one.
 */
static int forks_are_traced(struct world *world)
{
	int before = untraced(world), status;

	status = ended(fork_plainly());
	MUST(status != BROKEN);
	MUST(untraced(world) == before + (status == UNTRACED));
	MUST(ended(fork_plainly()) == TRACED);
	MUST(ended(fork_plainly()) == TRACED);
	MUST(untraced(world) == before + (status == UNTRACED));
	MUST(processes(world) == 1);
	return goes_on(world);
}

/* ------------------------------------------------------------------ */

static long run_fork(struct world *world)
{
	world->id = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (world->id == 0)
		_exit(look_if_traced());
	return world->id < 0 ? -errno : 0;
}

static int check_fork(struct world *world)
{
	/* The pool of the parent has an entry for this child. */
	MUST(ended(world->id) == TRACED);
	return forks_are_traced(world);
}

/*
 * vfork(): the child shares the memory, so it does not look for streams. It has ended when vfork()
 * returns.
 */
static long run_vfork(struct world *world)
{
	world->id = vfork();
	if (world->id == 0)
		_exit(TRACED);
	return world->id < 0 ? -errno : 0;
}

/* The child shares the table of descriptors, so no descriptor need be restored. */
static long run_clone_files(struct world *world)
{
	world->id = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (world->id == 0)
		_exit(look_if_traced());
	return world->id < 0 ? -errno : 0;
}

static void *fork_in_thread(void *arg)
{
	struct world *world = arg;

	/* Fork only after the fault of the main thread: check_thread() sets the address. */
	while (!__atomic_load_n(&world->address, __ATOMIC_ACQUIRE))
		sched_yield();
	return (void *)(long)ended(fork_plainly());
}

static long run_thread(struct world *world)
{
	static pthread_t thread;
	int err;

	world->address = NULL;
	err = pthread_create(&thread, NULL, fork_in_thread, world);
	if (err)
		return -err;
	world->id = thread;
	return 0;
}

/*
 * The pool must also have an entry for the new thread. Otherwise its child is counted as untraced.
 */
static int check_thread(struct world *world)
{
	int before = untraced(world);
	void *status;

	__atomic_store_n(&world->address, world, __ATOMIC_RELEASE);
	MUST(!pthread_join(world->id, &status));
	MUST((long)status != BROKEN);
	MUST(untraced(world) == before + ((long)status == UNTRACED));
	return forks_are_traced(world);
}

#define INHERITED	.inherited = POSIXTRACE_INHERITED

FIXTURE_VARIANT_ADD(op, fork) {
	.op = {
		INHERITED, .stays = true, .prepare = start, .run = run_fork,
		.untouched = goes_on, .check = check_fork,
	},
};

FIXTURE_VARIANT_ADD(op, vfork) {
	.op = {
		INHERITED, .stays = true, .prepare = start, .run = run_vfork,
		.untouched = goes_on, .check = check_fork,
	},
};

FIXTURE_VARIANT_ADD(op, clone_files) {
	.op = {
		INHERITED, .stays = true, .prepare = start, .run = run_clone_files,
		.untouched = goes_on, .check = check_fork,
	},
};

FIXTURE_VARIANT_ADD(op, thread) {
	.op = {
		INHERITED, .stays = true, .also = EAGAIN, .prepare = start, .run = run_thread,
		.untouched = goes_on, .check = check_thread,
	},
};

TEST_F(op, fails_or_succeeds_and_later_forks_are_traced)
{
	op_fail_each(_metadata, self->skip, &variant->op);
}

TEST_HARNESS_MAIN
