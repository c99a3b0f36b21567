/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The conditions of --when: the stream keeps the latest events in memory, and when a condition is
 * met, the events become a separate log. The caller begins the logs: see rotation.h.
 */
#ifndef POSIXTRACE_WHEN_H
#define POSIXTRACE_WHEN_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace.h>
#include <trace.h>

#include "session/session.h"
#include "util/options.h"

/* Most logs in a minute. */
#define WHEN_MOST		6
#define WHEN_MOST_MAX		600

/* Most conditions on events; posixtrace_settrigger() may accept fewer. */
#define WHEN_EVENTS_MAX		8

struct when {
	/* Options: */
	bool given;		/* there are conditions */
	bool exit_status;	/* the program fails */
	uint64_t blocked;	/* a thread was blocked for longer, ns; 0: no such condition */
	uint64_t runnable;	/* a thread was runnable for longer, ns; 0: no such condition */
	struct posixtrace_event_trigger event[WHEN_EVENTS_MAX];	/* names are allocated */
	size_t nr_events;
	uint64_t keep_time;	/* report a log with less than this time before its condition; ns */
	uint64_t after;		/* begin the log so much later, ns */
	unsigned long most;	/* logs in a minute; 0: WHEN_MOST */

	bool met;		/* a condition was met, and is not in a log yet */
	char *reason;		/* its description */
	unsigned long long more;	/* number of further ones */
	uint64_t time;		/* when it was met, ns since the Epoch */
	uint64_t due;		/* when its log begins: CLOCK_MONOTONIC, ns */
	unsigned int logs;	/* number of logs with a condition */
	/* Conditions that were met, but have no log: */
	unsigned long long skipped;	/* because of @most */
	unsigned long long failed;	/* because it could not be created */
	unsigned int tries;	/* number of logs, also of those that could not begin */
	uint64_t begun[WHEN_MOST_MAX];	/* when the latest of them began; a ring */
};

/* --when, and the options that have an effect with it. Their targets are in struct when. */
extern const struct command_option when_options[];

/*
 * when_check() - report options that have no effect, or conflict with the conditions. @policy is -1
 * by default. Returns false if there are some
 */
bool when_check(const struct when *when, const struct session *session, int policy,
		int log_policy);

/* when_choose_kernel() - record the class sched if a condition needs it; after when_check() */
void when_choose_kernel(const struct when *when, struct session *session);

/* when_start() - let the kernel and the programs watch. Returns 0 or an error number */
int when_start(const struct when *when, trace_id_t trid);

/*
 * when_events() - events to poll the descriptor of the stream for. 0 while a condition is met, or
 * while there may be no more logs, so that further conditions do not wake the command
 */
short when_events(const struct when *when);

/* when_wait() - time to poll for, of at most @ms milliseconds */
int when_wait(const struct when *when, int ms);

/* when_look() - check if a condition was met. Returns 0 or an error number */
int when_look(struct when *when, trace_id_t trid);

/* when_ask() - a log was requested by a signal, which is a condition that is always met */
void when_ask(struct when *when);

/* when_failed() - the program has ended with @status, which may be a condition */
void when_failed(struct when *when, int status);

/* when_is_due() - must the log begin now? */
bool when_is_due(const struct when *when);

/*
 * when_logged() - the log at @path has the condition: says so unless @quiet, and if events are
 * missing before it
 */
void when_logged(struct when *when, const char *path, bool quiet);

/* when_dropped() - the log could not be begun */
void when_dropped(struct when *when);

/* when_summary() - print the number of logs, and of conditions that have none */
void when_summary(const struct when *when);

/* when_free() - free the description and the names */
void when_free(struct when *when);

#endif /* POSIXTRACE_WHEN_H */
