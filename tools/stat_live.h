/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the events of a running process.
 */
#ifndef POSIXTRACE_STAT_LIVE_H
#define POSIXTRACE_STAT_LIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "source.h"

/**
 * struct stat_live - what to count
 * @pid: the process
 * @seconds: how long to count; 0: until the process ends, or SIGINT or SIGTERM comes
 * @data: record the data of events, too
 * @take: called for each event; returns 0 or a negative error number
 * @arg: argument of @take
 * @lost: where to store the number of lost user events
 */
struct stat_live {
	pid_t pid;
	unsigned int seconds;
	bool data;
	int (*take)(void *arg, const struct event *event);
	void *arg;
	uint64_t *lost;
};

/* stat_live() - count; returns 0, or a negative error number after a complaint */
int stat_live(const struct stat_live *live);

#endif /* POSIXTRACE_STAT_LIVE_H */
