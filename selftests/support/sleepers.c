// SPDX-License-Identifier: GPL-2.0
/* Processes that share their parent's memory, so that thousands fit into a guest. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "sleepers.h"

/* Enough for threads that only call pause(). */
#define STACK	4096

static int sleep_forever(void *arg)
{
	for (;;)
		pause();
	return !arg;
}

/* Returns the number of processes created. */
static long make_children(pid_t *pids, long count, char *stacks)
{
	for (long i = 0; i < count; i++) {
		pids[i] = clone(sleep_forever, stacks + (i + 1) * STACK, CLONE_VM | SIGCHLD, NULL);
		if (pids[i] < 0)
			return i;
	}
	return count;
}

static void end_children(const pid_t *pids, long count)
{
	for (long i = 0; i < count; i++)
		kill(pids[i], SIGKILL);
	for (long i = 0; i < count; i++)
		waitpid(pids[i], NULL, 0);
}

int sleepers(void *arg, const struct talk *talk)
{
	long count;
	char *stacks;
	pid_t *pids;

	(void)arg;
	say(talk, 0);
	count = hear(talk);
	if (count < 0)
		return 1;
	pids = calloc(count, sizeof(*pids));
	stacks = aligned_alloc(STACK, count * STACK);
	if (!pids || !stacks)
		return 2;
	count = make_children(pids, count, stacks);
	for (long i = 0; i < count; i++) {
		while (!is_asleep(pids[i]))
			sched_yield();
	}
	say(talk, count);
	hear(talk);
	end_children(pids, count);
	free(stacks);
	free(pids);
	return 0;
}
