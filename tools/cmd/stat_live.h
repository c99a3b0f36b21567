/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the events of a running process.
 */
#ifndef POSIXTRACE_STAT_LIVE_H
#define POSIXTRACE_STAT_LIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "event/source.h"

/**
 * struct stat_live - what to count
 * @pid: the process
 * @seconds: how long to count; 0: until the process ends, SIGINT or SIGTERM
 * @kernel: POSIXTRACE_CLASS_*: also record these kernel events
 * @data: also record the data of events
 * @start: called with the stream when recording has started; returns 0 or a negative error number;
 *	may be NULL
 * @take: called for each event; returns 0 or a negative error number
 * @end: called after the last event, while the stream is open
 * @arg: argument of @start, @take and @end
 * @lost: where to store the number of lost user events
 */
struct stat_live {
	pid_t pid;
	unsigned int seconds;
	unsigned int kernel;
	bool data;
	int (*start)(void *arg, struct source *source);
	int (*take)(void *arg, const struct event *event);
	void (*end)(void *arg, struct source *source);
	void *arg;
	uint64_t *lost;
};

/* stat_live() - count events; returns 0, or a negative error number after printing an error */
int stat_live(const struct stat_live *live);

#endif /* POSIXTRACE_STAT_LIVE_H */
