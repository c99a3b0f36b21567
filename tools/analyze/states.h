/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the threads of a trace did over time, derived from the kernel events. states.c collects it,
 * states_print.c prints it. The memory grows with the number of threads and of the system calls in
 * which they wait, up to a limit, but not with the number of events.
 */
#ifndef POSIXTRACE_STATES_H
#define POSIXTRACE_STATES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/locks.h"
#include "analyze/snapshot.h"
#include "analyze/waits.h"
#include "event/event_names.h"
#include "event/source.h"

#define STATES_THREADS	(1U << 16)	/* threads that are tracked */

enum states_state {
	STATES_RUNNING,
	STATES_RUNNABLE,	/* waits for a CPU */
	STATES_BLOCKED,
	STATES_UNKNOWN,		/* events are missing */
	STATES_COUNT
};

/**
 * struct states_thread - a thread
 * @pid: its process
 * @tid: its kernel thread id
 * @seen: the thread has recorded events; otherwise only its creation was seen
 * @label: its name and id at its first event, or ""
 * @first: the first time at which it is known to exist
 * @last: the last time at which it is known to exist
 * @lifetime: ns from @first to @last
 * @time: ns in each state; the sum is @lifetime
 * @io: ns blocked for input or output, a part of @time[STATES_BLOCKED]
 * @interrupted: ns in interrupts, a part of @time[STATES_RUNNING]
 * @voluntary: number of switch-outs because the thread had to wait
 * @preempted: number of switch-outs while the thread was still runnable
 * @faults: number of page faults
 * @calls: number of system calls
 * @signals: number of signals delivered
 */
struct states_thread {
	pid_t pid;
	pid_t tid;
	bool seen;
	char label[LABEL_SIZE];
	uint64_t first;
	uint64_t last;
	uint64_t lifetime;
	uint64_t time[STATES_COUNT];
	uint64_t io;
	uint64_t interrupted;
	uint64_t voluntary;
	uint64_t preempted;
	uint64_t faults;
	uint64_t calls;
	uint64_t signals;
};

struct states;

/**
 * states_new() - create an empty set of thread states
 * @classes: POSIXTRACE_CLASS_* of the kernel events in the trace
 * @states: where to store it
 *
 * Without the class sched, all states are unknown. Without the class syscall, page faults are the
 * only known places of waits.
 *
 * Return: 0 or -ENOMEM.
 */
int states_new(unsigned int classes, struct states **states);

/**
 * states_start() - use the states of threads at the start of recording
 * @states: from states_new(), before the first states_event()
 * @source: the log or stream
 * @snapshot: from snapshot_read(); the caller keeps it until states_free()
 */
void states_start(struct states *states, struct source *source, const struct snapshot *snapshot);

/**
 * struct states_blocked - a thread that was still blocked at the last event
 * @thread: index of the thread
 * @since: when its wait began; 0 if unknown
 * @exact: the wait began at @since; otherwise at that time or later
 * @state: its state at the start of recording, if it has remained in that state; otherwise NULL
 * @address: address of the futex for which it waits, from its futex_wait; 0 if unknown
 * @holder: number of the thread that holds the lock at @address; 0 if unknown
 */
struct states_blocked {
	uint32_t thread;
	uint64_t since;
	bool exact;
	const struct posixtrace_thread_state *state;
	uint64_t address;
	uint32_t holder;
};

/**
 * states_blocked() - check if a thread was blocked at the last event; call states_end() first
 * @states: from states_new()
 * @thread: index of the thread
 * @blocked: where to store what is known
 *
 * Return: true if the thread was blocked.
 */
bool states_blocked(const struct states *states, uint32_t thread, struct states_blocked *blocked);

/**
 * states_event() - process an event; call it for each event of the trace
 * @states: from states_new()
 * @event: the event
 * @selected: true: count the event; false: only check if the event marks a gap
 *
 * Return: 0 or -ENOMEM.
 */
int states_event(struct states *states, const struct event *event, bool selected);

/* states_end() - extend the last states up to the last event; returns 0 or -ENOMEM */
int states_end(struct states *states);

/**
 * states_threads() - get the threads, after states_end()
 * @states: from states_new()
 * @count: where to store their number
 *
 * Return: an array, sorted by first event, valid until states_free().
 */
const struct states_thread *states_threads(const struct states *states, size_t *count);

/*
 * states_waits() - get the waits, after states_end(); wait.thread is an index of states_threads()
 */
const struct waits *states_waits(const struct states *states);

/*
 * states_locks() - get the waits for futexes, after states_end(). locks_sum.process is a process
 * id, locks_sum.holder is 1 plus an index of states_threads().
 */
const struct locks *states_locks(const struct states *states);

/* states_more() - check if there were more than STATES_THREADS threads */
bool states_more(const struct states *states);

/* states_first(), states_last() - get the times of the first and last event; 0 without events */
uint64_t states_first(const struct states *states);
uint64_t states_last(const struct states *states);

/* states_has() - check if the trace has a class of events */
bool states_has(const struct states *states, unsigned int class);

void states_free(struct states *states);

#endif /* POSIXTRACE_STATES_H */
