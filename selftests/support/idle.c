// SPDX-License-Identifier: GPL-2.0
/* A process that executes a program which is idle. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "idle.h"

#define VARIABLE	"SELFTEST_IDLE"

/* Replaces main() in the program that become_idle() executes. */
static void __attribute__((constructor)) idle_after_exec(void)
{
	const char *fds = getenv(VARIABLE);
	struct talk talk;

	if (!fds || sscanf(fds, "%d,%d", &talk.in, &talk.out) != 2)
		return;
	say(&talk, IDLE);
	while (hear(&talk) != -EPIPE)
		;
	_exit(0);
}

void become_idle(const struct talk *talk)
{
	char fds[32];

	snprintf(fds, sizeof(fds), "%d,%d", talk->in, talk->out);
	setenv(VARIABLE, fds, 1);
	fcntl(talk->in, F_SETFD, 0);
	fcntl(talk->out, F_SETFD, 0);
	execl("/proc/self/exe", "idle", NULL);
}
