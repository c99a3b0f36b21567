/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by "live", "record" and "top": a stream on processes, and the options that select them and
 * the events to record.
 */
#ifndef POSIXTRACE_SESSION_H
#define POSIXTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace.h>

#include "session/process.h"
#include "session/session_filter.h"
#include "session/whom.h"
#include "util/options.h"

struct session {
	struct process process;	/* the program, or the first process of @whom */
	struct whom whom;
	const char *wait;	/* name of a program that has not started yet, or NULL */
	size_t traced;		/* number of processes when session_create() returned */
	size_t stream_size;	/* 0: default */
	size_t data_size;	/* bytes of data per event, or SESSION_DEFAULT */
	unsigned long max_events;	/* end the tracing after this many events; 0: no limit */
	bool inherit;
	int order;		/* POSIXTRACE_ORDER_* */
	uint64_t wakeup_ns;	/* wake the reader when an event is this old; 0: a millisecond */
	unsigned int kernel;	/* POSIXTRACE_CLASS_* */
	bool with_kernel;	/* --kernel was given */
	bool chosen;		/* @kernel was set by session_choose_kernel() */
	struct session_filter filter;	/* which events to record */
	bool no_device;		/* the process lacks the device, perhaps in a container */
	uint64_t clock_due;	/* for clock_error_note() */
	trace_id_t trid;
};

#define SESSION_DEFAULT	((size_t)-1)

#define SESSION_PID_MAX		(1 << 22)

/* One year. */
#define SESSION_SECONDS_MAX	31536000

/* Options of commands that trace a process. Their targets are in struct session. */
extern const struct command_option session_options[];

/* The arguments of --kernel: the classes of kernel events, "all" and "none". */
extern const struct option_choice session_classes[];

/*
 * session_add_classes() - add classes from a comma-separated list. @option must have the choices
 * session_classes. Returns 0, or -EINVAL after printing an error.
 */
int session_add_classes(const struct command_option *option, const char *list,
			unsigned int *classes);

/*
 * session_process() - handle the operands of @command: a process id, or a program with or without
 * "--". Returns false after printing an error if they are missing or conflict with the options.
 */
bool session_process(struct session *session, const char *command, int argc, char **argv);

/*
 * session_attr() - create attributes with a name from the options. Returns 0 or an error number.
 * After success, the caller must call posix_trace_attr_destroy().
 */
int session_attr(const struct session *session, const char *name, trace_attr_t *attr);

/*
 * session_create() - create the stream on all processes, with a log unless log_fd is -1. The stream
 * has its filter and is suspended. Prints which processes cannot be traced. This is an error only
 * if such a process was given by its id, or if no process is left. With @wait, waits for the
 * process; a signal of the session's process ends this with EINTR. Returns 0, or an error number
 * after printing an error.
 */
int session_create(struct session *session, const trace_attr_t *attr, int log_fd);

/* session_create_plain() - session_attr() and session_create() without a log */
int session_create_plain(struct session *session, const char *name);

/*
 * session_create_beside() - create a second stream, with a log, on the processes of a session. It
 * has the same filter and is suspended. Leaves out processes that cannot be traced. Returns 0, or
 * an error number after printing an error.
 */
int session_create_beside(struct session *session, const trace_attr_t *attr, int log_fd,
			  trace_id_t *trid);

/* session_stats() - get event counts, including kernel events; returns 0 or an error number */
int session_stats(const struct session *session, struct posixtrace_stats_info *stats);

/* session_hint() - if no event was recorded, print likely reasons and what to do */
void session_hint(const struct session *session, const struct posixtrace_stats_info *stats);

/*
 * session_choose_kernel() - if --kernel was not given and the program has no trace points, record
 * the classes sched and process, as far as the caller may record them
 */
void session_choose_kernel(struct session *session);

/* session_free() - free the names */
void session_free(struct session *session);

#endif /* POSIXTRACE_SESSION_H */
