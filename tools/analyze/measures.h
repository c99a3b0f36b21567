/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures the events, scopes, system calls and thread states of a trace, as a whole or divided by
 * a field, a process, a thread or a file. The memory is bounded: see measure.h.
 */
#ifndef POSIXTRACE_MEASURES_H
#define POSIXTRACE_MEASURES_H

#include "analyze/measure.h"
#include "event/source.h"

#define MEASURES_THREADS	(1U << 16)	/* threads that are distinguished */

/* How to divide the measures. */
enum measures_by {
	MEASURES_WHOLE,		/* not divided */
	MEASURES_BY_FIELD,
	MEASURES_BY_PROCESS,
	MEASURES_BY_THREAD,
	MEASURES_BY_FILE,	/* system calls only: the path of the file on which they work */
};

/**
 * struct measures_options - what to measure
 * @kinds: bits of enum measure_kind
 * @classes: POSIXTRACE_CLASS_* of the trace; states need POSIXTRACE_CLASS_SCHED
 * @by: how to divide the measures
 * @field: the field for MEASURES_BY_FIELD; the caller keeps it
 * @names: distinguish processes and threads by name only, to compare traces with different ids
 */
struct measures_options {
	unsigned int kinds;
	unsigned int classes;
	enum measures_by by;
	struct field_path field;
	bool names;
};

struct measures;

/* measures_new() - create an empty set of measures; returns 0 or -ENOMEM */
int measures_new(const struct measures_options *options, struct measures **measures);

/* measures_start() - read the files open at the start of a log or stream; returns 0 or -errno */
int measures_start(struct measures *measures, struct source *source);

/**
 * measures_event() - process an event; call it for each event of the trace
 * @measures: from measures_new()
 * @event: the event
 * @selected: true: measure the event; false: only check if the event marks a gap
 *
 * Return: 0 or a negative error number.
 */
int measures_event(struct measures *measures, const struct event *event, bool selected);

/* measures_end() - count scopes and calls that have not ended; returns 0 or a negative error */
int measures_end(struct measures *measures);

/**
 * measures_rows() - get the rows of a table, after measures_end()
 * @measures: the measures
 * @kind: which table: events, scopes, system calls or states
 * @count: where to store their number
 *
 * Leaves out names whose events all lack the field, and scopes with only begins or only ends. The
 * order is the same as in measure_list().
 *
 * Return: an array to free, or NULL if out of memory.
 */
const struct measure **measures_rows(const struct measures *measures, enum measure_kind kind,
				     size_t *count);

/* measures_without() - count the event types that lack the field, and the events of these types */
uint64_t measures_without(const struct measures *measures, size_t *types);

/* measures_options() - get what is measured */
const struct measures_options *measures_options(const struct measures *measures);

/* measures_table() - get all measures */
const struct measure_table *measures_table(const struct measures *measures);

/* measures_user(), measures_system() - count the user and system events */
uint64_t measures_user(const struct measures *measures);
uint64_t measures_system(const struct measures *measures);

/* measures_first(), measures_last() - get the times of the first and last event, or 0 */
uint64_t measures_first(const struct measures *measures);
uint64_t measures_last(const struct measures *measures);

/* measures_returns() - count the returns from system calls without an entry */
uint64_t measures_returns(const struct measures *measures);

void measures_free(struct measures *measures);

#endif /* POSIXTRACE_MEASURES_H */
