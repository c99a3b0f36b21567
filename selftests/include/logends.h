/* SPDX-License-Identifier: GPL-2.0 */
/* Ends logs that a kernel thread writes. */
#ifndef _SELFTESTS_LOGENDS_H
#define _SELFTESTS_LOGENDS_H

#include "process.h"

/* In shared memory: results of threads that end logs. */
struct ended {
	int logs;
	int interrupted;
};

/* Opens so many names that writing the end of a log takes long. Returns 0 or an error number. */
int open_names(void);

/*
 * Creates a stream and ends it. @log: the file, or < 0 for a temporary one. Returns 0 or negative
 * errno.
 */
int end_log(int log);

/*
 * Opens many names, and ends logs in @nr threads until the process is killed. Reports when each
 * thread has ended its first log: before that, the kernel allows all of them to begin together.
 * @ended: where to count, or NULL.
 */
int end_logs_by(int nr, int log, struct ended *ended, const struct talk *talk);

#endif /* _SELFTESTS_LOGENDS_H */
