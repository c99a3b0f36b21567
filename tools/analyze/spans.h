/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spans of time derived from kernel events: thread states, system calls and interrupts. The
 * exporters draw these spans instead of the events.
 */
#ifndef POSIXTRACE_SPANS_H
#define POSIXTRACE_SPANS_H

#include "analyze/calls.h"
#include "analyze/intervals.h"
#include "analyze/snapshot.h"

/**
 * struct irq - an interrupt that took time from a thread
 * @thread: number of the thread
 * @pid: process of the thread
 * @cpu: the CPU
 * @begin: start time
 * @end: end time
 * @kind: irq, softirq or vector; "" if unknown
 * @number: its number
 * @nested: this interrupt interrupted another one
 * @name: its name, @name_len bytes
 */
struct irq {
	uint32_t thread;
	pid_t pid;
	unsigned int cpu;
	uint64_t begin;
	uint64_t end;
	const char *kind;
	uint64_t number;
	bool nested;
	const char *name;
	size_t name_len;
};

/* Receive spans of any thread, not only of the thread of the current event. Return 0 or -errno. */
struct spans_ops {
	int (*put_state)(void *to, const struct interval *interval);
	int (*put_call)(void *to, const struct call *call);
	int (*put_irq)(void *to, const struct irq *irq);
	/* Finds the number of a thread from its ids in @event, a state at the start of the log. */
	int (*find_thread)(void *to, const struct event *event, uint32_t *number);
};

struct spans;

/**
 * spans_new() - create an empty set of spans
 * @max: highest number of a thread; threads with higher numbers have no spans
 * @classes: POSIXTRACE_CLASS_* of the log
 * @ops: called for each span
 * @to: first argument of @ops
 * @spans: where to store the set
 *
 * Return: 0, or -ENOMEM.
 */
int spans_new(size_t max, unsigned int classes, const struct spans_ops *ops, void *to,
	      struct spans **spans);

/**
 * spans_start() - use the states of threads at the start of recording
 * @spans: from spans_new(), before the first event
 * @snapshot: from snapshot_read(); the caller keeps it until spans_free()
 *
 * Call this only if spans_event() gets all events.
 */
void spans_start(struct spans *spans, const struct snapshot *snapshot);

/**
 * spans_event() - process an event
 * @spans: from spans_new()
 * @thread: number of the thread of @event
 * @event: any event, in the order of the log
 * @lost: events were lost before @event
 * @mark: stored in a system call that begins
 *
 * Return: 1 if the spans contain all information of the event; 0 if not; or a negative error
 * number.
 */
int spans_event(struct spans *spans, uint32_t thread, const struct event *event, bool lost,
		uint64_t mark);

/* spans_end() - end all spans after the last event; returns 0 or a negative error number */
int spans_end(struct spans *spans);

void spans_free(struct spans *spans);

#endif /* POSIXTRACE_SPANS_H */
