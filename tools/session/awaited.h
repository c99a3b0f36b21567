/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits for a program that has not started yet. It starts when a process executes it, or when a
 * process that has executed another program changes its own name, but not when a process that runs
 * it forks. The names are those of whom.h.
 */
#ifndef POSIXTRACE_AWAITED_H
#define POSIXTRACE_AWAITED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "session/process.h"

/* Interval of looks at all processes; longer if a look takes much time. */
#define AWAITED_LOOK_MS	10

/* A process. Its id may be reused, but not with the same start time. */
struct awaited_process {
	pid_t pid;
	unsigned long long start;
};

/*
 * A wait. It looks at all processes in /proc if the kernel sends no events, or if events were lost.
 */
struct awaited {
	const char *name;
	struct process *process;	/* has the signals that end the wait */
	sigset_t mask;			/* of the caller, who may have unblocked them */
	int events;			/* of exec_events_open(), or a negative error number */
	struct awaited_process *known;	/* had the name when all processes were looked at */
	size_t nr_known;
	struct awaited_process found;	/* returned by the last awaited_next() */
	long cost_ns;			/* processor time of the last look at all processes */
};

/* awaited_name_is_valid() - can a program have this name? */
bool awaited_name_is_valid(const char *name);

/*
 * awaited_begin() - begin to notice programs that start. The signals are blocked until the first
 * awaited_next() returns. Returns 0 or a negative error number. In both cases, call awaited_end()
 * afterwards.
 */
int awaited_begin(struct awaited *awaited, const char *name, struct process *process);

/*
 * awaited_next() - wait for the program. Returns the id of the process that runs it; -EINTR if a
 * signal ended the wait; another negative error number. Later calls return later processes.
 */
pid_t awaited_next(struct awaited *awaited);

/*
 * awaited_was_replaced() - has the process of the last awaited_next() ended, and does another
 * process have its id now? Call this after a stream was created on the id.
 */
bool awaited_was_replaced(const struct awaited *awaited);

/* awaited_end() - release what awaited_begin() has got */
void awaited_end(struct awaited *awaited);

#endif /* POSIXTRACE_AWAITED_H */
