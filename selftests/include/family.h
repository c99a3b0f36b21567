/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for families of processes: shared memory, a start line, and all ways to create a child.
 */
#ifndef _SELFTESTS_FAMILY_H
#define _SELFTESTS_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

#include "trace_test.h"

/* Returns the number of attempts to make: @count, or fewer on a slow machine and with STRIDE. */
int rounds(int count);

/* Returns zeroed memory that all children share until the test ends. */
void *share(size_t size);

/* A start line in shared memory: all processes leave it at the same time. */
struct line {
	int here;
	int round;
};

void line_up(struct line *line, int count);

/* Executes some instructions, to vary the point where racers meet. */
static inline void dawdle(unsigned int loops)
{
	while (loops--)
		__asm__ __volatile__ ("");
}

/* ------------------------------------------------------------------ */
/* Streams								*/

int new_family_stream(pid_t pid, int inherited, size_t size, int policy, trace_id_t *trid);

/* Starts a stream that loses no event until it is full. */
int start_family_stream(pid_t pid, trace_id_t *trid);

static inline void record_as(trace_event_id_t id, int number)
{
	posix_trace_event(id, &number, sizeof(number));
}

static inline void record_plain(int number)
{
	record_as(POSIX_TRACE_UNNAMED_USEREVENT, number);
}

/* Returns the number of processes that a stream traces, or -1 on error. */
long processes_of(trace_id_t trid);

/* Returns the number of events generated for a stream, or -1 on error. */
long generated_for(trace_id_t trid);

/* ------------------------------------------------------------------ */
/* Children								*/

/* The main function of a child. Its return value is the exit status. */
typedef int (*family_fn)(void *arg);

pid_t by_fork(family_fn fn, void *arg);
pid_t by_vfork(family_fn fn, void *arg);
pid_t by_raw_clone(family_fn fn, void *arg);
pid_t by_raw_clone3(family_fn fn, void *arg);
pid_t by_clone_stack(family_fn fn, void *arg);
pid_t by_clone_vm(family_fn fn, void *arg);

/* Creates a child as posix_spawn() of the C library does. */
pid_t by_clone_vfork(family_fn fn, void *arg);

pid_t by_clone_files(family_fn fn, void *arg);

/* Creates a child in a new PID namespace, as process 1. */
pid_t by_clone_newpid(family_fn fn, void *arg);

#ifdef __x86_64__
#define HAVE_CLONE3_STACK

pid_t by_clone3_stack(family_fn fn, void *arg);
pid_t by_clone3_vm(family_fn fn, void *arg);
#endif

/* Waits for one child. Returns its exit status, or minus the signal that killed it. */
int ended(pid_t pid);

/*
 * Waits for all children and, after adopt_orphans(), grandchildren. Returns the number that
 * failed.
 */
int all_ended(void);

/* Makes all_ended() also wait for grandchildren. */
int adopt_orphans(void);

#endif /* _SELFTESTS_FAMILY_H */
