/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who woke a thread, as far as the event tells.
 */
#ifndef POSIXTRACE_WAKER_H
#define POSIXTRACE_WAKER_H

#include <sys/types.h>

#include "event/kevent.h"

enum waker_kind {
	WAKER_UNKNOWN,		/* the wake-up is not among the events */
	WAKER_ANOTHER,		/* a thread that the log may not name */
	WAKER_THREAD,
	WAKER_INTERRUPT,
	WAKER_NONE		/* the trace or the thread ends before */
};

/**
 * struct waker - who woke a thread
 * @kind: what it was
 * @pid: WAKER_THREAD: process of the waker
 * @tid: WAKER_THREAD: the waker
 */
struct waker {
	enum waker_kind kind;
	pid_t pid;
	pid_t tid;
};

/* waker_of() - get the waker from the fields of a sched_wakeup */
struct waker waker_of(const struct kevent *kevent);

/* waker_name() - get the name of a waker that an event tells, as in the events; "" of others */
const char *waker_name(enum waker_kind kind);

#endif /* POSIXTRACE_WAKER_H */
