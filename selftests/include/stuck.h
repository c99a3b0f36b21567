/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logs that accept only a little data, so that their log threads wait forever. Also functions that
 * find and observe log threads.
 */
#ifndef _SELFTESTS_STUCK_H
#define _SELFTESTS_STUCK_H

#include <stdbool.h>

#include "module.h"
#include "process.h"
#include "textfile.h"
#include "uapi.h"

#define LOG_TIMEOUT	"/sys/module/posixtrace/parameters/log_timeout"

int stuck_blocking_fifo(void);
int stuck_nonblocking_fifo(void);

/* Fills a pipe or socket in whole pages, except for @left bytes. */
void stuck_fill(int fd, int left);

/* Can a pipe take data? */
bool stuck_has_room(int pipe);

/*
 * Returns a full TCP socket whose error queue has timestamps that are never read, so that poll()
 * reports an error. Negative errno without a network.
 */
int stuck_error_queue(void);

/* ------------------------------------------------------------------ */

/* Returns the thread id of a log thread, or 0. */
int log_thread_find(void);

/* Polls for @seconds. Returns true once the condition is true. */
bool becomes_true(bool (*is_so)(void *arg), void *arg, int seconds);

/* Returns how often a thread has gone to sleep, or -1. */
long thread_sleeps(int tid);

bool no_log_thread(void *unused);
bool module_refcount_is(void *count);
bool has_slept_often(void *tid);

/* ------------------------------------------------------------------ */

/* Creates a stream on the calling process, with its log in @fd. Returns 0 or negative errno. */
int stuck_create(struct stream *stream, int fd);

/* Fills the stream with events, and requests a flush. Returns 0 or negative errno. */
int stuck_record(struct stream *stream, int events);

#endif /* _SELFTESTS_STUCK_H */
