/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The latest events of the processes that "posixtrace top" shows: a second stream keeps them in
 * memory, and writes them to a numbered log on demand.
 */
#ifndef POSIXTRACE_TOP_WINDOW_H
#define POSIXTRACE_TOP_WINDOW_H

#include <stdbool.h>

#include "session/logfile.h"
#include "session/rotation.h"
#include "session/session.h"

/* Initially, only log.path is set: the path of the first log, or NULL if no log is wanted. */
struct top_window {
	struct logfile log;
	struct rotation rotation;
	trace_id_t trid;
	bool open;
};

/*
 * top_window_open() - create the first log and, on the processes of a session, the stream. Does
 * nothing without a path. Returns 0, or an error number after printing an error.
 */
int top_window_open(struct top_window *window, struct session *session);

/* top_window_start() - start the stream; returns 0, or an error number after printing an error */
int top_window_start(struct top_window *window);

/* top_window_write() - write the latest events to the next log, and print its name or an error */
void top_window_write(struct top_window *window);

/* top_window_close() - end the stream, without writing another log */
void top_window_close(struct top_window *window);

#endif /* POSIXTRACE_TOP_WINDOW_H */
