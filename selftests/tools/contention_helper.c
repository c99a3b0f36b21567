// SPDX-License-Identifier: GPL-2.0
/*
 * A program with known contentions. Each lies between the events NAME_begin and NAME_end of the
 * main thread. The other threads begin to work when the main thread waits for them and is blocked.
 *
 *	lock	waits for a mutex; the thread "holder" has it and works
 *	chain	waits for a mutex; the thread "holder" has it and reads from a pipe, into which the
 *		process "server" writes after some work
 *	cpu	works on the same CPU as the thread "rival"
 *
 * usage: contention_helper
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#define WORK	20000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static atomic_bool done;
static int answers[2];

static void fail(const char *what)
{
	fprintf(stderr, "contention_helper: %s\n", what);
	_exit(1);
}

static void work(void)
{
	for (unsigned int i = 0; i < WORK; i++)
		__asm__ __volatile__("" : : : "memory");
}

static void record(const char *scope, const char *suffix)
{
	trace_event_id_t id;
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", scope, suffix);
	if (posix_trace_eventid_open(name, &id))
		fail("posix_trace_eventid_open");
	posix_trace_event(id, NULL, 0);
}

/* Returns once the thread of the process sleeps. */
static void until_blocked(pid_t pid, pid_t tid)
{
	char path[64], text[512], *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	do {
		file = fopen(path, "r");
		if (!file || !fgets(text, sizeof(text), file))
			fail(path);
		fclose(file);
		state = strrchr(text, ')');
	} while (!state || state[2] != 'S');
}

static void *hold(void *arg)
{
	bool asks = arg;
	char byte;

	prctl(PR_SET_NAME, "holder");
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&held);
	until_blocked(getpid(), getpid());
	if (!asks)
		work();
	else if (read(answers[0], &byte, 1) != 1)
		fail("read");
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Returns the only thread besides the main thread, once there is one. */
static pid_t other_thread(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	pid_t tid = 0;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	while (!tid) {
		list = opendir(path);
		if (!list)
			fail(path);
		while ((entry = readdir(list))) {
			if (atoi(entry->d_name) && atoi(entry->d_name) != pid)
				tid = atoi(entry->d_name);
		}
		closedir(list);
	}
	return tid;
}

static void serve(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_NAME, "server");
	until_blocked(parent, other_thread(parent));
	until_blocked(parent, parent);
	work();
	if (write(answers[1], "x", 1) != 1)
		fail("write");
	_exit(0);
}

static void contend(const char *scope, bool asks)
{
	pthread_t holder;

	pthread_barrier_init(&held, NULL, 2);
	if (pthread_create(&holder, NULL, hold, asks ? &mutex : NULL))
		fail("pthread_create");
	pthread_barrier_wait(&held);
	record(scope, "begin");
	pthread_mutex_lock(&mutex);
	record(scope, "end");
	pthread_mutex_unlock(&mutex);
	pthread_join(holder, NULL);
	pthread_barrier_destroy(&held);
}

static void *compete(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "rival");
	pthread_barrier_wait(&held);
	while (!atomic_load(&done))
		;
	return NULL;
}

static void share_cpu(void)
{
	pthread_t rival;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	pthread_barrier_init(&held, NULL, 2);
	if (pthread_create(&rival, NULL, compete, NULL))
		fail("pthread_create");
	pthread_barrier_wait(&held);
	record("cpu", "begin");
	work();
	record("cpu", "end");
	atomic_store(&done, true);
	pthread_join(rival, NULL);
}

int main(void)
{
	pid_t server;

	contend("lock", false);
	if (pipe(answers))
		fail("pipe");
	server = fork();
	if (server == 0)
		serve();
	contend("chain", true);
	waitpid(server, NULL, 0);
	share_cpu();
	return 0;
}
