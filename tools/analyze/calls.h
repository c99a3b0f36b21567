/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls of threads: finds the entry that belongs to each exit.
 */
#ifndef POSIXTRACE_CALLS_H
#define POSIXTRACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/kevent.h"

#define CALL_DATA_MAX		256	/* bytes of the data of a syscall_entry that are kept */

/**
 * struct call - a system call
 * @thread: number of its thread
 * @pid: process of the thread
 * @key: event_thread_key() of the thread
 * @cpu: the CPU on which it began
 * @begin: time of the entry
 * @end: time of the exit, or the last time at which the call is known to have been open
 * @finished: the log has the exit; @result is valid
 * @compat: a call of a 32-bit program
 * @name: its name
 * @nr: its number
 * @args: its arguments
 * @result: what it returned
 * @lost: number of events lost between entry and exit; if not 0, the two may belong to different
 *	calls
 * @mark: the value that the caller of calls_event() passed at the entry
 * @entry: the syscall_entry; its data points to @data
 * @data: the first CALL_DATA_MAX bytes of the data of @entry
 */
struct call {
	uint32_t thread;
	pid_t pid;
	uint64_t key;
	unsigned int cpu;
	uint64_t begin;
	uint64_t end;
	bool finished;
	bool compat;
	char name[KEVENT_CALL_NAME];
	int64_t nr;
	uint64_t args[KEVENT_ARGS];
	int64_t result;
	uint64_t lost;
	uint64_t mark;
	struct event entry;
	unsigned char data[CALL_DATA_MAX];
};

struct calls;

/* calls_new() - create a set of open calls of threads 1 to @max; returns 0 or -ENOMEM */
int calls_new(size_t max, struct calls **calls);

/**
 * calls_event() - process an event
 * @calls: from calls_new()
 * @thread: number of the thread of @event
 * @event: any kernel event, in the order of the log
 * @kevent: its fields
 * @mark: stored in a call that begins
 * @ended: where to store the call that ended, or NULL; valid until the next call
 *
 * If the thread enters a call, or leaves a different call, while its last call is still open, the
 * exit of the open call is missing. The open call then ends with length 0.
 *
 * Return: 1 if struct call contains all information of the event; 0 if not, such as for an exit
 * without an entry; or -ENOMEM.
 */
int calls_event(struct calls *calls, uint32_t thread, const struct event *event,
		const struct kevent *kevent, uint64_t mark, const struct call **ended);

/* calls_open() - get the open call of a thread, or NULL */
const struct call *calls_open(const struct calls *calls, uint32_t thread);

/**
 * calls_take() - remove one of the open calls, after the last event
 * @calls: from calls_new()
 * @end: time of the last event
 * @lost: number of events lost before the last event
 *
 * Return: the call, valid until the next call, or NULL if all have been removed.
 */
const struct call *calls_take(struct calls *calls, uint64_t end, uint64_t lost);

void calls_free(struct calls *calls);

#endif /* POSIXTRACE_CALLS_H */
