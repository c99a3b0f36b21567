/* SPDX-License-Identifier: GPL-2.0 */
/* Threads in WRITE_LOG, and what the logs contain that they write. */
#ifndef _SELFTESTS_LOGWORKER_H
#define _SELFTESTS_LOGWORKER_H

#include <pthread.h>
#include <stdbool.h>

#include "logfile.h"

/* A thread in WRITE_LOG. */
struct worker {
	int fd;
	int tid;
	int ret;
	int done;
	pthread_t thread;
};

/* Returns false if WRITE_LOG failed or returned. */
bool worker_start(struct worker *worker, int fd);

/* Returns what WRITE_LOG has returned. */
int worker_join(struct worker *worker);

/* Copies data from a pipe to a file until end of file. */
struct copy {
	int from;
	int to;
	pthread_t thread;
};

/* @arg: a struct copy. A thread function. */
void *copy_all(void *arg);

/*
 * The number of user events, recorded and lost, in a log that ends with these flags
 * (POSIXTRACE_LOG_END_*); -1 if it is damaged or ends in another way.
 */
long count_events(int fd, unsigned int end_flags);

#endif /* _SELFTESTS_LOGWORKER_H */
