/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the threads of a trace did at each time, by the events of the kernel: states.c collects it,
 * states_print.c prints it. The memory grows with the number of threads and of system calls that
 * they wait in, up to a limit, not with the number of events.
 */
#ifndef POSIXTRACE_STATES_H
#define POSIXTRACE_STATES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/waits.h"
#include "event/event_names.h"
#include "event/source.h"

#define STATES_THREADS	(1U << 16)	/* threads that are followed */

enum states_state {
	STATES_RUNNING,
	STATES_RUNNABLE,	/* able to run, without a processor */
	STATES_BLOCKED,
	STATES_UNKNOWN,		/* events are missing */
	STATES_COUNT
};

/**
 * struct states_thread - a thread
 * @pid: its process
 * @tid: its kernel thread id
 * @seen: it has events of its own; otherwise only its creation was seen
 * @label: its name and id at its first event, or ""
 * @first: its first known moment
 * @last: its last one
 * @lifetime: ns between them
 * @time: ns in each state, altogether @lifetime
 * @io: ns blocked for input or output, a part of @time[STATES_BLOCKED]
 * @interrupted: ns in interrupts, a part of @time[STATES_RUNNING]
 * @voluntary: number of switches because the thread had to wait
 * @preempted: number of switches although the thread could go on
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
 * states_new() - begin to follow threads
 * @classes: POSIXTRACE_CLASS_* of the kernel's events in the trace
 * @states: where to store them
 *
 * Without the class sched, all states are unknown. Without the class syscall, all places of waits
 * are but page faults.
 *
 * Return: 0 or -ENOMEM.
 */
int states_new(unsigned int classes, struct states **states);

/**
 * states_event() - process an event; call it for each event of the trace
 * @states: from states_new()
 * @event: the event
 * @selected: count it; otherwise only note whether it marks a gap
 *
 * Return: 0 or -ENOMEM.
 */
int states_event(struct states *states, const struct event *event, bool selected);

/* states_end() - let the threads have their states until the last event; returns 0 or -ENOMEM */
int states_end(struct states *states);

/**
 * states_threads() - get the threads, after states_end()
 * @states: from states_new()
 * @count: where to store their number
 *
 * Return: an array in the order of their first events, valid until states_free().
 */
const struct states_thread *states_threads(const struct states *states, size_t *count);

/* states_waits() - get the waits, after states_end(); their threads are indices of the array */
const struct waits *states_waits(const struct states *states);

/* states_more() - check whether there were more than STATES_THREADS threads */
bool states_more(const struct states *states);

/* states_first(), states_last() - get the times of the first and the last event; 0 without one */
uint64_t states_first(const struct states *states);
uint64_t states_last(const struct states *states);

/* states_has() - check whether the trace has a class of events */
bool states_has(const struct states *states, unsigned int class);

void states_free(struct states *states);

#endif /* POSIXTRACE_STATES_H */
