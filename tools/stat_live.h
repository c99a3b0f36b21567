/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a running process.
 */
#ifndef POSIXTRACE_STAT_LIVE_H
#define POSIXTRACE_STAT_LIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "source.h"

/**
 * struct stat_live - what is wanted
 * @pid: the process
 * @seconds: for how long; 0: until it ends, or SIGINT or SIGTERM comes
 * @take: called for each event; 0 or negative errno
 * @arg: of @take
 * @lost: where to write how many user events were lost
 */
struct stat_live {
	pid_t pid;
	unsigned int seconds;
	int (*take)(void *arg, const struct event *event);
	void *arg;
	uint64_t *lost;
};

/* stat_live() - 0, or negative errno when it has complained about it */
int stat_live(const struct stat_live *live);

#endif /* POSIXTRACE_STAT_LIVE_H */
