/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of events: collected in stat_collect.c, printed in stat_print.c. What is kept
 * depends on how many types and threads there are, not on the number of events.
 */
#ifndef POSIXTRACE_STAT_H
#define POSIXTRACE_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "histogram.h"
#include "pairs.h"
#include "source.h"
#include "threads.h"

#define STAT_TYPES		4096	/* ids of event types are below */
#define STAT_THREADS		(1U << 16)	/* more than that are told together */
#define STAT_OPEN_MAX		(1U << 16)	/* begins that wait for their ends */
#define STAT_DEPTH_MAX		1024	/* of one thread */

/**
 * struct stat_type - what was seen of an event type
 * @name: its name
 * @user: a user event type
 * @count: events
 * @last: time of the last one
 * @stretch: of the trace that this was in
 * @intervals: times between one and the next
 * @pair: it is the begin or end of, or NULL
 */
struct stat_type {
	char *name;
	bool user;
	uint64_t count;
	uint64_t last;
	uint64_t stretch;
	struct histogram intervals;
	struct stat_pair *pair;
};

/**
 * struct stat_thread - what was seen of a thread
 * @pid: its process
 * @thread: its pthread_self()
 * @count: events
 * @first: time of the first
 * @last: time of the last
 */
struct stat_thread {
	pid_t pid;
	uint64_t thread;
	uint64_t count;
	uint64_t first;
	uint64_t last;
};

/**
 * struct stat_pair - X_begin and X_end, or X:begin and X:end
 * @next: another pair
 * @name: X, and what separates
 * @roles: which of the two were seen: bit PAIRS_BEGIN, bit PAIRS_END
 * @durations: from begins to their ends
 * @no_end: begins without an end
 * @no_begin: ends without a begin
 * @doubtful: events were lost between the two
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

/**
 * struct stats - of a trace
 * @begun: there was an event
 * @first: time of the first
 * @last: largest time
 * @user: user events
 * @system: other events
 * @truncated: user events whose data were cut
 * @stretch: number of the part of the trace without gaps, damage and stops
 * @type: by event type
 * @pair: the first of a list
 * @threads: their numbers
 * @thread: by number
 * @threads_room: how many there is memory for
 * @nr_threads: how many there are, with the first one, who are those without a number
 * @pairs: what is open
 */
struct stats {
	bool begun;
	uint64_t first;
	uint64_t last;
	uint64_t user;
	uint64_t system;
	uint64_t truncated;
	uint64_t stretch;
	struct stat_type *type[STAT_TYPES];
	struct stat_pair *pair;
	struct threads *threads;
	struct stat_thread *thread;
	size_t threads_room;
	size_t nr_threads;
	struct pairs *pairs;
};

/* stats_init() - 0 or negative errno */
int stats_init(struct stats *stats);

/**
 * stats_event() - one event more
 * @stats: of stats_init()
 * @event: the event: each of the trace
 * @selected: it counts; else only where the trace has holes is noted
 *
 * Return: 0 or negative errno.
 */
int stats_event(struct stats *stats, const struct event *event, bool selected);

/* stats_end() - what is open has no end */
void stats_end(struct stats *stats);

/**
 * stats_print() - tables
 * @stats: after stats_end()
 * @to: where to
 * @all: all threads, also if there are many
 * @histograms: of durations
 */
void stats_print(const struct stats *stats, FILE *to, bool all, bool histograms);

void stats_free(struct stats *stats);

#endif /* POSIXTRACE_STAT_H */
