/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of events: stat_collect.c collects them, stat_print.c prints them. The memory grows
 * with the number of event types and threads, not with the number of events.
 */
#ifndef POSIXTRACE_STAT_H
#define POSIXTRACE_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/histogram.h"
#include "analyze/pairs.h"
#include "analyze/stat_fields.h"
#include "event/event_names.h"
#include "event/source.h"
#include "util/threads.h"

#define STAT_TYPES		4096		/* event type ids are smaller */
#define STAT_THREADS		(1U << 16)	/* threads counted individually */
#define STAT_OPEN_MAX		(1U << 16)	/* open begins of all threads */
#define STAT_DEPTH_MAX		1024		/* open begins of a thread */

/**
 * struct stat_type - statistics of an event type
 * @name: name of the type
 * @user: user event type, not system event type
 * @count: number of events
 * @last: time of the last event
 * @stretch: struct stats.stretch at the last event
 * @intervals: times between two consecutive events
 * @fields: statistics of its fields
 * @pair: the pair whose begin or end has this type, or NULL
 */
struct stat_type {
	char *name;
	bool user;
	uint64_t count;
	uint64_t last;
	uint64_t stretch;
	struct histogram intervals;
	struct stat_fields fields;
	struct stat_pair *pair;
};

/**
 * struct stat_thread - statistics of a thread
 * @pid: process of the thread
 * @thread: pthread_self() of the thread
 * @key: event_thread_key() of the thread
 * @label: name of the thread
 * @count: number of events
 * @first: time of the first event
 * @last: time of the last event
 */
struct stat_thread {
	pid_t pid;
	uint64_t thread;
	uint64_t key;
	char label[LABEL_SIZE];
	uint64_t count;
	uint64_t first;
	uint64_t last;
};

/**
 * struct stat_pair - statistics of X_begin and X_end, or X:begin and X:end
 * @next: next pair in the list
 * @name: X and the separator
 * @roles: which of the two were seen: bits PAIRS_BEGIN and PAIRS_END
 * @durations: times from begin to end
 * @no_end: number of begins without an end
 * @no_begin: number of ends without a begin
 * @doubtful: number of pairs with lost events between begin and end
 */
struct stat_pair {
	struct stat_pair *next;
	char *name;
	unsigned int roles;
	struct histogram durations;
	uint64_t no_end;
	uint64_t no_begin;
	uint64_t doubtful;
};

/* Statistics of a trace. */
struct stats {
	bool with_fields;		/* the events have data; set after stats_init() */
	bool begun;			/* an event has been counted */
	uint64_t first;			/* time of the first event */
	uint64_t last;			/* largest time of an event */
	uint64_t user;			/* number of user events */
	uint64_t system;		/* number of system events */
	uint64_t truncated;		/* number of user events with truncated data */
	uint64_t stretch;		/* incremented by a gap, damage or a stop */
	struct stat_type *type[STAT_TYPES];	/* by event type */
	struct stat_pair *pair;		/* list of pairs */
	struct threads *threads;	/* numbers of threads */
	struct stat_thread *thread;	/* index: thread number; [0]: all others */
	size_t threads_room;		/* entries allocated in @thread */
	size_t nr_threads;		/* entries used in @thread, including the first */
	struct pairs *pairs;		/* open begins */
};

/* stats_init() - initialize empty statistics; returns 0 or a negative error number */
int stats_init(struct stats *stats);

/**
 * stats_event() - process an event; call it for each event of the trace
 * @stats: from stats_init()
 * @event: the event
 * @selected: true: count the event; false: only check if the event marks a gap
 *
 * Return: 0 or a negative error number.
 */
int stats_event(struct stats *stats, const struct event *event, bool selected);

/* stats_end() - count the begins that are still open, after the last event */
void stats_end(struct stats *stats);

void stats_free(struct stats *stats);

#endif /* POSIXTRACE_STAT_H */
