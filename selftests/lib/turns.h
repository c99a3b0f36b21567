/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes turns on the processors short, on any kernel. On each processor, a real-time thread wakes
 * up periodically for a moment, and preempts the thread that runs there.
 */
#ifndef _SELFTESTS_TURNS_H
#define _SELFTESTS_TURNS_H

#include <pthread.h>
#include <time.h>

#include "process.h"

/*
 * Limit of processors. On more, there would be so many real-time threads that few of them preempt
 * another thread.
 */
#define TURNS_CPUS	32

static struct turns {
	pthread_t thread[TURNS_CPUS];
	int threads;
	struct timespec length;
	int stop;
	long count;		/* the threads add their counts when they end */
	int failed;		/* number of threads that failed */
} turns;

static void *turns_thread(void *arg)
{
	const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	long count = 0;

	/* The thread sleeps after every turn, even if late, so other threads always get a turn. */
	if (run_on((long)arg) < 0 || pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest))
		__atomic_fetch_add(&turns.failed, 1, __ATOMIC_RELAXED);
	else
		while (!__atomic_load_n(&turns.stop, __ATOMIC_RELAXED)) {
			nanosleep(&turns.length, NULL);
			count++;
		}
	__atomic_fetch_add(&turns.count, count, __ATOMIC_RELAXED);
	return NULL;
}

/* Ends the turns. Returns their number, or -EPERM if a thread could not make them. */
static inline long turns_end(void)
{
	__atomic_store_n(&turns.stop, 1, __ATOMIC_RELAXED);
	while (turns.threads)
		pthread_join(turns.thread[--turns.threads], NULL);
	return turns.failed ? -EPERM : turns.count;
}

/* Returns the number of processors that have short turns, from the first one. */
static inline long turns_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < TURNS_CPUS ? cpus : TURNS_CPUS;
}

/*
 * From now on, no thread on these processors runs for longer than @microseconds, plus the time of a
 * switch.
 */
static inline int turns_begin(unsigned int microseconds)
{
	long cpus = turns_cpus();
	int err = 0;

	memset(&turns, 0, sizeof(turns));
	turns.length.tv_nsec = microseconds * 1000L;
	for (long cpu = 0; cpu < cpus && !err; cpu++) {
		err = pthread_create(&turns.thread[cpu], NULL, turns_thread, (void *)cpu);
		turns.threads += !err;
	}
	if (err)
		turns_end();
	return -err;
}

#endif /* _SELFTESTS_TURNS_H */
