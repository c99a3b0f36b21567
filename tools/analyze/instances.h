/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the slowest instances of one scope or of each scope, or the life of a thread.
 */
#ifndef POSIXTRACE_INSTANCES_H
#define POSIXTRACE_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyze/pairs.h"
#include "event/select.h"
#include "event/source.h"

#define INSTANCES_MAX		1000	/* largest @worst in the options */
#define INSTANCES_SCOPES	512	/* scopes for which instances are kept */

/**
 * struct instances_options - what to find
 * @each: instances of each scope and system call, up to INSTANCES_SCOPES of them
 * @scope: name of a scope without its suffix, or of a system call; NULL: find the life of a thread
 * @worst: number of instances, at most INSTANCES_MAX
 * @selection: selects events. An instance of a scope is found if its begin or end is selected and
 *	both are in the period. A life is the life of the first thread with a selected event, cut to
 *	the period
 */
struct instances_options {
	bool each;
	const char *scope;
	size_t worst;
	struct selection *selection;
};

/**
 * struct instance - a period of time of a thread
 * @pid: process of the thread
 * @key: event_thread_key() of the thread
 * @begin: start of the period
 * @end: end of the period
 */
struct instance {
	pid_t pid;
	uint64_t key;
	uint64_t begin;
	uint64_t end;
};

/**
 * struct instances_counts - how many instances there are
 * @all: number of complete instances
 * @unmatched: number of begins without an end in the same thread, and of ends without a begin
 * @doubtful: number of instances that may be wrong: events were lost between begin and end, so the
 *	two may belong to different instances
 */
struct instances_counts {
	uint64_t all;
	uint64_t unmatched;
	uint64_t doubtful;
};

/**
 * struct instances_scope - the instances of one scope
 * @name: its name; not set if the options have the name
 * @counts: how many there are
 * @worst: the longest instances, the longest first; those of equal length in the order of their
 *	ends
 * @count: number of entries of @worst
 */
struct instances_scope {
	char name[PAIRS_NAME_MAX];
	struct instances_counts counts;
	struct instance *worst;
	size_t count;
};

struct instances;

/* instances_new() - begin a search; the caller keeps the name in @options; returns 0 or -ENOMEM */
int instances_new(const struct instances_options *options, struct instances **instances);

/* instances_event() - process the next event of the log; returns 0 or a negative error number */
int instances_event(struct instances *instances, const struct event *event);

/**
 * instances_end() - end the search after the last event, and get the instances
 * @instances: from instances_new()
 * @counts: where to store how many there are
 * @count: where to store the length of the array
 *
 * Return: an array as in struct instances_scope. With @each, the array of the first scope.
 */
const struct instance *instances_end(struct instances *instances, struct instances_counts *counts,
				     size_t *count);

/*
 * instances_scopes() - get all scopes that were found, and their number; call instances_end() first
 */
const struct instances_scope *instances_scopes(const struct instances *instances, size_t *count);

/* instances_first() - get the time of the first event */
uint64_t instances_first(const struct instances *instances);

/* instances_from() - get the earliest begin that is searched for; call it after the first event */
uint64_t instances_from(const struct instances *instances);

void instances_free(struct instances *instances);

#endif /* POSIXTRACE_INSTANCES_H */
