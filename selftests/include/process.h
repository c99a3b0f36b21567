/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Child processes that communicate with the test over pipes, so that no test waits for time
 * to pass.
 */
#ifndef _SELFTESTS_PROCESS_H
#define _SELFTESTS_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NSEC	1000000000ULL

/* One end of a conversation: the other end gets what is sent here. */
struct talk {
	int in;
	int out;
};

struct child {
	pid_t pid;
	struct talk talk;
};

/* Sends @value; the other end may be gone. */
static inline void say(const struct talk *talk, long value)
{
	if (write(talk->out, &value, sizeof(value)) < 0)
		return;
}

/* Receives a value; -EPIPE if the other end is gone. */
static inline long hear(const struct talk *talk)
{
	ssize_t n;
	long value;

	do {
		n = read(talk->in, &value, sizeof(value));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(value) ? value : -EPIPE;
}

/* Runs fn(arg, talk) in a child; its return value is the exit status. */
static inline int child_start(struct child *child, int (*fn)(void *arg, const struct talk *talk),
			      void *arg)
{
	int there[2], back[2];

	*child = (struct child){ .pid = -1, .talk = { .in = -1, .out = -1 } };
	if (pipe2(there, O_CLOEXEC))
		return -errno;
	if (pipe2(back, O_CLOEXEC)) {
		close(there[0]);
		close(there[1]);
		return -errno;
	}
	child->pid = fork();
	if (child->pid == 0) {
		struct talk talk = { .in = there[0], .out = back[1] };

		/* Otherwise a child of a killed test would wait forever. */
		close(there[1]);
		close(back[0]);
		signal(SIGPIPE, SIG_IGN);
		_exit(fn(arg, &talk));
	}
	close(there[0]);
	close(back[1]);
	child->talk = (struct talk){ .in = back[0], .out = there[1] };
	if (child->pid < 0) {
		close(there[1]);
		close(back[0]);
		return -ENOMEM;
	}
	return 0;
}

/* Closes the pipes and waits for the end of a child. Returns its wait status. */
static inline int child_wait(struct child *child)
{
	int status;

	close(child->talk.in);
	close(child->talk.out);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static inline int child_kill(struct child *child)
{
	kill(child->pid, SIGKILL);
	return child_wait(child);
}

/* A child function: reports that it runs, and lives until the parent closes the pipe. */
static inline int child_idle(void *arg, const struct talk *talk)
{
	(void)arg;
	say(talk, 0);
	while (hear(talk) != -EPIPE)
		;
	return 0;
}

/* Moves the calling thread to the @n-th CPU, modulo their number. */
static inline int run_on(unsigned int n)
{
	unsigned int cpu = n % sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : (int)cpu;
}

/* The state of a thread, as the letter in /proc; 0 if it does not exist. */
static inline int thread_state(int tid)
{
	char path[64], line[256], *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return state ? state[2] : 0;
}

/* True if a thread (or a process with one thread) is asleep in the kernel. */
static inline int is_asleep(int tid)
{
	return thread_state(tid) == 'S';
}

/* True if a thread has ended and was not waited for yet. */
static inline int is_zombie(int tid)
{
	return thread_state(tid) == 'Z';
}

static inline unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * NSEC + time.tv_nsec;
}

#endif /* _SELFTESTS_PROCESS_H */
