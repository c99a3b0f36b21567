// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait for a lock forever. usage: hang_helper WAY
 *
 * Two threads, "left" and "right", wait for each other, or for the main thread. Prints a line when
 * both are asleep, and then lives until its input ends.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

static pthread_mutex_t mutex[2];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pid_t tid[2];

static void wait_for_mutex(int i)
{
	pthread_mutex_lock(&mutex[i]);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex[!i]);
}

/* The kernel would refuse a deadlock of such mutexes. */
static void wait_for_main_thread(int i)
{
	(void)i;
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex[0]);
}

static void wait_for_rwlock(int i)
{
	pthread_barrier_wait(&barrier);
	if (i)
		pthread_rwlock_wrlock(&rwlock);
	else
		pthread_rwlock_rdlock(&rwlock);
}

static void wait_for_condition(int i)
{
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex[i]);
	pthread_cond_wait(&condition, &mutex[i]);
}

static void wait_for_semaphore(int i)
{
	(void)i;
	pthread_barrier_wait(&barrier);
	sem_wait(&semaphore);
}

static const struct {
	const char *name;
	int kind;
	int protocol;
	void (*wait)(int i);
} ways[] = {
	{ "normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, wait_for_mutex },
	{ "recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, wait_for_mutex },
	{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, wait_for_mutex },
	{ "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, wait_for_mutex },
	{ "inherit", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, wait_for_main_thread },
	{ "rwlock", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, wait_for_rwlock },
	{ "condition", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, wait_for_condition },
	{ "semaphore", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, wait_for_semaphore },
};

static void (*wait_way)(int i);

static void *run(void *arg)
{
	int i = *(int *)arg;

	pthread_setname_np(pthread_self(), i ? "right" : "left");
	tid[i] = gettid();
	wait_way(i);
	return NULL;
}

static int prepare(const char *name)
{
	pthread_mutexattr_t attr;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(name, ways[i].name))
			continue;
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, ways[i].kind);
		pthread_mutexattr_setprotocol(&attr, ways[i].protocol);
		pthread_mutex_init(&mutex[0], &attr);
		pthread_mutex_init(&mutex[1], &attr);
		sem_init(&semaphore, 0, 0);
		pthread_rwlock_wrlock(&rwlock);
		pthread_barrier_init(&barrier, NULL, 3);
		wait_way = ways[i].wait;
		if (wait_way == wait_for_main_thread)
			pthread_mutex_lock(&mutex[0]);
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	static int number[2] = { 0, 1 };
	pthread_t thread;

	if (argc != 2 || prepare(argv[1]))
		return 2;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, run, &number[i]))
			return 1;
	pthread_barrier_wait(&barrier);
	while (!is_asleep(tid[0]) || !is_asleep(tid[1]))
		sched_yield();
	puts("hangs");
	fflush(stdout);
	return getchar() != EOF;
}
