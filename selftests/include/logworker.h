/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that write logs with WRITE_LOG, and helpers to read such logs. */
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

/* Starts a thread. Returns false if its WRITE_LOG failed or returned. */
bool worker_start(struct worker *worker, int fd);

/* Waits for the end of a thread. Returns the result of its WRITE_LOG. */
int worker_join(struct worker *worker);

/* Copies data from a pipe to a file until end of file. */
struct copy {
	int from;
	int to;
	pthread_t thread;
};

/* Thread function; @arg is a struct copy. */
void *copy_all(void *arg);

/*
 * Returns the number of user events, recorded and lost, in a log. Returns -1 if the log is damaged
 * or does not end with these flags (POSIXTRACE_LOG_END_*).
 */
long count_events(int fd, unsigned int end_flags);

#endif /* _SELFTESTS_LOGWORKER_H */
