// SPDX-License-Identifier: GPL-2.0
/* Helpers for child processes and their pipes, CPUs, the states of threads, and clocks. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "process.h"

void say(const struct talk *talk, long value)
{
	if (write(talk->out, &value, sizeof(value)) < 0)
		return;
}

long hear(const struct talk *talk)
{
	ssize_t n;
	long value;

	do {
		n = read(talk->in, &value, sizeof(value));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(value) ? value : -EPIPE;
}

int child_start(struct child *child, int (*fn)(void *arg, const struct talk *talk), void *arg)
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

		/* Close this end, so that the child does not wait forever if the test is killed. */
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

int child_wait(struct child *child)
{
	int status;

	close(child->talk.in);
	close(child->talk.out);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int child_kill(struct child *child)
{
	kill(child->pid, SIGKILL);
	return child_wait(child);
}

int child_idle(void *arg, const struct talk *talk)
{
	(void)arg;
	say(talk, 0);
	while (hear(talk) != -EPIPE)
		;
	return 0;
}

int run_on(unsigned int n)
{
	unsigned int cpu = n % sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : (int)cpu;
}

long syscall_of(int tid)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	/* the file has "running" instead of a number if the thread does not sleep */
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

int thread_state(int tid)
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

bool falls_asleep(const int *tid, const int *done)
{
	/* A thread in state 'S' may still be running, and may check again if it must sleep. */
	while (!__atomic_load_n(tid, __ATOMIC_ACQUIRE) || !is_asleep(*tid) ||
	       syscall_of(*tid) < 0) {
		if (done && __atomic_load_n(done, __ATOMIC_ACQUIRE))
			return false;
		sched_yield();
	}
	return true;
}

unsigned long long clock_now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * NSEC + time.tv_nsec;
}

size_t memory_in_use(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		abort();
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}
