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
 * @root: its root directory, or -1 without permission to open it
 * @uid: its user
 * @pid: its id in its own PID namespace
 * @nested: it is in a different PID namespace than this command
 */
struct process_now {
	int proc;
	int root;
	uid_t uid;
	pid_t pid;
	bool nested;
};

/* process_now_has_boot() - check if a log is from the boot that this machine is in */
bool process_now_has_boot(const struct source *source);

/**
 * process_now_find() - find the process of an event
 * @event: an event of a log
 * @now: where to store the process; release it with process_now_close()
 *
 * Return: true if the same process still runs, not just another one with its id.
 */
bool process_now_find(const struct event *event, struct process_now *now);

/**
 * process_now_is_same() - check that a process still runs the program that recorded an event
 * @now: the process
 * @event: an event of the process
 *
 * Return: true if the process has the files of the log mapped, at the same addresses, and no
 * others.
 */
bool process_now_is_same(const struct process_now *now, const struct event *event);

void process_now_close(struct process_now *now);

#endif /* POSIXTRACE_PROCESS_NOW_H */
