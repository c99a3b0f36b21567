/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reader at the other end of a log that is a pipe, a socket or the like: copies the
 * data into a file.
 */
#ifndef _SELFTESTS_LOGDRAIN_H
#define _SELFTESTS_LOGDRAIN_H

#include <pthread.h>

#include "withlog.h"

struct drain {
	int from;
	int to;
	int err;		/* valid after joining */
	pthread_t thread;
};

int copy_once(int from, int to);

/* Returns 0 or an error number. Copies until the writer closes its end. */
int drain_start(struct drain *drain, int from, int to);

/* Waits for the end. Returns 0, or minus an error number. */
int drain_end(struct drain *drain);

#endif /* _SELFTESTS_LOGDRAIN_H */
