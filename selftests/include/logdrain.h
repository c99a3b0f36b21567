/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a log that is a pipe, a socket or similar, and copies the data to a file.
 */
#ifndef _SELFTESTS_LOGDRAIN_H
#define _SELFTESTS_LOGDRAIN_H

#include <pthread.h>

#include "withlog.h"

struct drain {
	int from;
	int to;
	int err;		/* valid once the thread is joined */
	pthread_t thread;
};

int copy_once(int from, int to);

/* Starts copying until the writer closes its end. Returns 0 or an error number. */
int drain_start(struct drain *drain, int from, int to);

/* Waits until everything is copied. Returns 0, or minus an error number. */
int drain_end(struct drain *drain);

#endif /* _SELFTESTS_LOGDRAIN_H */
