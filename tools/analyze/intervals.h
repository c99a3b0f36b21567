/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thread states over time, such as running, runnable or blocked, from the scheduler events.
 *
 * Only states proven by the log count. The state is unknown after lost events until the next event
 * that shows it, and between two contradictory events.
 */
#ifndef POSIXTRACE_INTERVALS_H
#define POSIXTRACE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/calls.h"
#include "analyze/waker.h"

/* The numbers must match export/timeline/rows.js. */
enum state {
	STATE_UNKNOWN,
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SLEEP,	/* waits for an event */
	STATE_DISK,	/* waits for a block device, or uninterruptible */
	STATE_STOPPED,
	NR_STATES,
};

/**
 * struct interval - a period in which a thread had one state
 * @thread: number of the thread
 * @pid: process of the thread
 * @state: its state
 * @begin: start time
 * @end: end time
 * @cpu: STATE_RUNNING: the CPU, or SOURCE_NO_CPU
 * @letter: blocked or stopped: state letter of ps(1), or 0
 * @io: blocked: waited for a block device
 * @preempted: STATE_RUNNABLE: it was preempted, not woken
 * @call: blocked: name of the system call, or ""
 * @waker: blocked: who ended the wait; STATE_RUNNABLE: who made it runnable
 * @open: it lasted beyond the last event
 * @complete: events tell its begin and its end; otherwise it may have begun earlier or ended later
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
	bool complete;
};

/* Receives the intervals of a thread in time order. Returns 0 or a negative error number. */
typedef int (*intervals_put)(void *to, const struct interval *interval);

struct intervals;

/**
 * intervals_new() - create a set of intervals for threads 1 to @max
 * @max: highest number of a thread
 * @scheduled: the log has scheduler events; without them there are no states
 * @put: called for each interval
 * @to: first argument of @put
 * @intervals: where to store the set
 *
 * Return: 0, or -ENOMEM.
 */
int intervals_new(size_t max, bool scheduled, intervals_put put, void *to,
		  struct intervals **intervals);

/**
 * intervals_begin() - register a thread before its first event
 * @intervals: from intervals_new()
 * @thread: its number
 * @event: has its ids
 *
 * Return: 0 or -ENOMEM.
 */
int intervals_begin(struct intervals *intervals, uint32_t thread, const struct event *event);

/**
 * intervals_event() - process an event
 * @intervals: from intervals_new()
 * @thread: number of the thread of @event; after its end, a thread has no further intervals
 * @event: any event, in the order of the log
 * @kevent: its fields, or NULL if it is not a complete kernel event
 * @call: the open system call of the thread, or NULL
 *
 * Return: 1 if intervals show the whole event; 0 if not, such as for a wake-up of a running thread;
 *	or a negative error number.
 */
int intervals_event(struct intervals *intervals, uint32_t thread, const struct event *event,
		    const struct kevent *kevent, const struct call *call);

/**
 * intervals_state() - use the state of a thread at a moment
 * @intervals: from intervals_new()
 * @thread: its number
 * @event: has its ids
 * @state: the state
 * @begin: the thread has been in it since then
 *
 * Has no effect if events have already determined the state.
 *
 * Return: 1 if the state was unknown; 0; or a negative error number.
 */
int intervals_state(struct intervals *intervals, uint32_t thread, const struct event *event,
		    const struct posixtrace_thread_state *state, uint64_t begin);

/**
 * intervals_lost() - report that events may be missing
 * @intervals: from intervals_new()
 * @time: they are missing after this time
 *
 * Return: 0 or a negative error number.
 */
int intervals_lost(struct intervals *intervals, uint64_t time);

/**
 * intervals_stopped() - report a partial event: one of several streams may have no more events
 * @intervals: from intervals_new()
 * @event: the event; only a STOP has an effect
 *
 * Return: 0 or a negative error number.
 */
int intervals_stopped(struct intervals *intervals, const struct event *event);

/* intervals_now() - get the open interval of a thread, or NULL; its end is not valid yet */
const struct interval *intervals_now(const struct intervals *intervals, uint32_t thread);

/**
 * intervals_dropped() - check if a thread has ended without a recorded end
 * @intervals: from intervals_new()
 * @thread: its number
 * @since: where to store the end of its last known state
 *
 * Return: true if another thread has its ids now.
 */
bool intervals_dropped(const struct intervals *intervals, uint32_t thread, uint64_t *since);

/* intervals_end() - end all intervals at the last event; returns 0 or a negative error number */
int intervals_end(struct intervals *intervals, uint64_t time);

/*
 * interval_of_state() - set what a state tells about an interval, which is all zero: @state, @cpu,
 * @letter, @io and @call
 */
void interval_of_state(const struct posixtrace_thread_state *state, struct interval *interval);

/* interval_name() - get the name of the state, as shown in the HTML page */
const char *interval_name(const struct interval *interval);

void intervals_free(struct intervals *intervals);

#endif /* POSIXTRACE_INTERVALS_H */
