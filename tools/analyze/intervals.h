/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of threads over the time: running, runnable, blocked and so on, from the scheduler's
 * events.
 *
 * Only what the log proves counts. The state is unknown from the place where events were lost to
 * the next event that shows it, and between two events that contradict each other.
 */
#ifndef POSIXTRACE_INTERVALS_H
#define POSIXTRACE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/calls.h"
#include "analyze/waker.h"

/* The same numbers as in export/timeline.html. */
enum state {
	STATE_UNKNOWN,
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SLEEP,	/* waits for an event */
	STATE_DISK,	/* waits for a block device, or cannot be interrupted */
	STATE_STOPPED,
	NR_STATES,
};

/**
 * struct interval - a time in which a thread had one state
 * @thread: number of the thread
 * @pid: process of the thread
 * @state: its state
 * @begin: time of the begin
 * @end: time of the end
 * @cpu: STATE_RUNNING: the processor, or SOURCE_NO_CPU
 * @letter: blocked or stopped: the letter of ps(1), or 0
 * @io: blocked: waited for a block device
 * @preempted: STATE_RUNNABLE: it did not wait before
 * @call: blocked: name of the system call, or ""
 * @waker: who woke it, at the end of a wait or before it was runnable
 * @open: it lasted beyond the last event
 */
struct interval {
	uint32_t thread;
	pid_t pid;
	enum state state;
	uint64_t begin;
	uint64_t end;
	unsigned int cpu;
	char letter;
	bool io;
	bool preempted;
	char call[KEVENT_CALL_NAME];
	struct waker waker;
	bool open;
};

/* Receives the intervals of a thread in their order. Returns 0 or a negative error number. */
typedef int (*intervals_put)(void *to, const struct interval *interval);

struct intervals;

/**
 * intervals_new() - begin without intervals of threads 1 to @max
 * @max: highest number of a thread
 * @scheduled: the log has the scheduler's events: otherwise there are no states
 * @put: receives the intervals
 * @to: first argument of @put
 * @intervals: where to store them
 *
 * Return: 0, or -ENOMEM.
 */
int intervals_new(size_t max, bool scheduled, intervals_put put, void *to,
		  struct intervals **intervals);

/**
 * intervals_begin() - say that there is a thread, before it has an event
 * @intervals: from intervals_new()
 * @thread: its number
 * @event: has its ids
 *
 * Return: 0 or -ENOMEM.
 */
int intervals_begin(struct intervals *intervals, uint32_t thread, const struct event *event);

/**
 * intervals_event() - process an event; events must come in the order of the log
 * @intervals: from intervals_new()
 * @thread: number of its thread; one that has ended has no further intervals
 * @event: any event
 * @kevent: its fields, or NULL if it is not a whole event of the kernel
 * @call: the open system call of the thread, or NULL
 *
 * Return: 1 if the intervals tell all of the event; 0 if not, as for a wake-up of a running thread;
 * a negative error number.
 */
int intervals_event(struct intervals *intervals, uint32_t thread, const struct event *event,
		    const struct kevent *kevent, const struct call *call);

/**
 * intervals_lost() - say that events may be missing
 * @intervals: from intervals_new()
 * @time: after this time
 *
 * Return: 0 or a negative error number.
 */
int intervals_lost(struct intervals *intervals, uint64_t time);

/* intervals_now() - get the open interval of a thread, or NULL; its end means nothing yet */
const struct interval *intervals_now(const struct intervals *intervals, uint32_t thread);

/**
 * intervals_dropped() - check whether a thread has ended without an event that says so
 * @intervals: from intervals_new()
 * @thread: its number
 * @since: result: its last known state ended then
 *
 * Return: true if another thread has its ids now.
 */
bool intervals_dropped(const struct intervals *intervals, uint32_t thread, uint64_t *since);

/* intervals_end() - end all of them at the time of the last event; returns 0 or an error number */
int intervals_end(struct intervals *intervals, uint64_t time);

/* interval_name() - get the name of the state, as the page has it */
const char *interval_name(const struct interval *interval);

void intervals_free(struct intervals *intervals);

#endif /* POSIXTRACE_INTERVALS_H */
