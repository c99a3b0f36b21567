/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who woke a thread, as far as events tell.
 */
#ifndef POSIXTRACE_WAKER_H
#define POSIXTRACE_WAKER_H

#include <sys/types.h>

#include "event/kevent.h"

enum waker_kind {
	WAKER_UNKNOWN,		/* the log lacks the wake-up */
	WAKER_ANOTHER,		/* a thread that the log must not identify */
	WAKER_THREAD,
	WAKER_INTERRUPT,
	WAKER_NONE		/* not woken before the end of the trace or thread */
};

/**
 * struct waker - who woke a thread
 * @kind: kind of waker
 * @pid: WAKER_THREAD: process of the waker
 * @tid: WAKER_THREAD: the waker
 */
struct waker {
	enum waker_kind kind;
	pid_t pid;
	pid_t tid;
};

/* waker_of() - read the waker from the fields of a sched_wakeup */
struct waker waker_of(const struct kevent *kevent);

/* waker_name() - get the name of a kind of waker as in the events; "" for other kinds */
const char *waker_name(enum waker_kind kind);

#endif /* POSIXTRACE_WAKER_H */
