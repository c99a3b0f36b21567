/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thread states over time, such as running, runnable or blocked, from the scheduler events.
 *
 * A state is reported only if the log proves it. The state of a thread is unknown after lost
 * events, until the next event that shows it, and between two events that contradict each other.
 */
#ifndef POSIXTRACE_INTERVALS_H
#define POSIXTRACE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/calls.h"
#include "analyze/waker.h"

/* The numbers must match the states in export/timeline/rows.js. */
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
 * @io: blocked: the thread waited for a block device
 * @preempted: STATE_RUNNABLE: the thread was preempted, not woken
 * @call: blocked: name of the system call, or ""
 * @waker: blocked: what ended the wait; STATE_RUNNABLE: what woke the thread
 * @open: the interval lasted beyond the last event
 * @complete: begin and end are exact; otherwise the state may have begun earlier or ended later
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
 * @thread: number of the thread
 * @event: an event with the ids of the thread
 *
 * Return: 0 or -ENOMEM.
 */
int intervals_begin(struct intervals *intervals, uint32_t thread, const struct event *event);

/**
 * intervals_event() - process an event
 * @intervals: from intervals_new()
 * @thread: number of the thread of @event; events after the end of the thread have no effect
 * @event: any event, in the order of the log
 * @kevent: its fields, or NULL if it is not a complete kernel event
 * @call: the open system call of the thread, or NULL
 *
 * Return: 1 if the intervals contain all information of the event; 0 if not, such as for a wake-up
 * of a running thread; or a negative error number.
 */
int intervals_event(struct intervals *intervals, uint32_t thread, const struct event *event,
		    const struct kevent *kevent, const struct call *call);

/**
 * intervals_state() - set the state of a thread from a snapshot
 * @intervals: from intervals_new()
 * @thread: number of the thread
 * @event: an event with the ids of the thread
 * @state: the state
 * @begin: the thread has been in @state since this time
 *
 * Has no effect if events have already determined the state.
 *
 * Return: 1 if the state was used; 0 if it had no effect; or a negative error number.
 */
int intervals_state(struct intervals *intervals, uint32_t thread, const struct event *event,
		    const struct posixtrace_thread_state *state, uint64_t begin);

/**
 * intervals_lost() - report that events may be missing
 * @intervals: from intervals_new()
 * @time: events after this time may be missing
 *
 * Return: 0 or a negative error number.
 */
int intervals_lost(struct intervals *intervals, uint64_t time);

/**
 * intervals_stopped() - report a partial event, which concerns only one of several merged streams
 * @intervals: from intervals_new()
 * @event: the event; only a STOP has an effect, as the stream may have no more events
 *
 * Return: 0 or a negative error number.
 */
int intervals_stopped(struct intervals *intervals, const struct event *event);

/* intervals_now() - get the open interval of a thread, or NULL; its end is not valid yet */
const struct interval *intervals_now(const struct intervals *intervals, uint32_t thread);

/**
 * intervals_dropped() - check if a thread ended at an unknown time because its ids were reused
 * @intervals: from intervals_new()
 * @thread: number of the thread
 * @since: where to store the end of its last known state
 *
 * Return: true if another thread now has the ids of this thread.
 */
bool intervals_dropped(const struct intervals *intervals, uint32_t thread, uint64_t *since);

/* intervals_end() - end all intervals at @time, the time of the last event; returns 0 or -errno */
int intervals_end(struct intervals *intervals, uint64_t time);

/*
 * interval_of_state() - set the members of an interval that a state from a snapshot has: @state,
 * @cpu, @letter, @io and @call. The interval must be all zero.
 */
void interval_of_state(const struct posixtrace_thread_state *state, struct interval *interval);

/* interval_name() - get the name of the interval's state, as shown in the HTML page */
const char *interval_name(const struct interval *interval);

void intervals_free(struct intervals *intervals);

#endif /* POSIXTRACE_INTERVALS_H */
