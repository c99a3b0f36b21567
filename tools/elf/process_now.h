/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process of a log that still runs on this machine.
 */
#ifndef POSIXTRACE_PROCESS_NOW_H
#define POSIXTRACE_PROCESS_NOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "event/source.h"

/**
 * struct process_now - a process that still runs
 * @proc: its directory in /proc
 * @root: its root directory, or -1 without permission to see it
 * @uid: its user
 * @pid: its id as it sees it
 * @nested: it is in another PID namespace than this command
 */
struct process_now {
	int proc;
	int root;
	uid_t uid;
	pid_t pid;
	bool nested;
};

/**
 * process_now_find() - find the process of an event
 * @event: an event of a log
 * @now: where to store the process; release it with process_now_close()
 *
 * Return: true if the process runs: not just one with its id.
 */
bool process_now_find(const struct event *event, struct process_now *now);

/**
 * process_now_is_same() - check that a process has not executed another program since
 * @now: the process
 * @event: one of its events
 *
 * Return: true if it has files at the addresses in the log, and none elsewhere.
 */
bool process_now_is_same(const struct process_now *now, const struct event *event);

void process_now_close(struct process_now *now);

#endif /* POSIXTRACE_PROCESS_NOW_H */
