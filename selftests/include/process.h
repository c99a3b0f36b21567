/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Child processes that communicate with the test through pipes, so that tests need not wait for
 * time to pass.
 */
#ifndef _SELFTESTS_PROCESS_H
#define _SELFTESTS_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NSEC	1000000000ULL

/* One end of a pair of pipes: a value sent at one end is received at the other end. */
struct talk {
	int in;
	int out;
};

struct child {
	pid_t pid;
	struct talk talk;
};

/* Sends @value. The other end may be gone. */
void say(const struct talk *talk, long value);

/* Receives a value. Returns -EPIPE if the other end is gone. */
long hear(const struct talk *talk);

/* Runs fn(arg, talk) in a child; its return value is the exit status. */
int child_start(struct child *child, int (*fn)(void *arg, const struct talk *talk), void *arg);

/* Closes the pipes and waits for the end of a child. Returns its wait status. */
int child_wait(struct child *child);

int child_kill(struct child *child);

/*
 * The main function of a child that reports that it runs, and lives until the parent closes the
 * pipe.
 */
int child_idle(void *arg, const struct talk *talk);

/* Moves the calling thread to the @n-th CPU, modulo their number. */
int run_on(unsigned int n);

/* Returns the state of a thread, as the letter in /proc; 0 if the thread does not exist. */
int thread_state(int tid);

/* Returns the number of the system call in which a thread sleeps, or -1. */
long syscall_of(int tid);

/* Is the thread, or the only thread of this process, asleep in the kernel? */
static inline int is_asleep(int tid)
{
	return thread_state(tid) == 'S';
}

/*
 * Waits until a thread is asleep. The thread stores its id in @tid. If the thread need not sleep,
 * it may store 1 in @done (unless NULL); this function then returns false.
 */
bool falls_asleep(const int *tid, const int *done);

/* True if a thread has ended but was not reaped. */
static inline int is_zombie(int tid)
{
	return thread_state(tid) == 'Z';
}

/* Returns the time of a clock in nanoseconds. */
unsigned long long clock_now(clockid_t clock);

/* Returns the nanoseconds since 1970. */
static inline unsigned long long now(void)
{
	return clock_now(CLOCK_REALTIME);
}

/* Returns the time in milliseconds, without a system call. */
static inline long long coarse_now(void)
{
	return clock_now(CLOCK_MONOTONIC_COARSE) / 1000000;
}

static inline struct timespec to_timespec(unsigned long long nsec)
{
	return (struct timespec){ nsec / NSEC, nsec % NSEC };
}

/* Returns the number of bytes that this process has mapped. */
size_t memory_in_use(void);

#endif /* _SELFTESTS_PROCESS_H */
