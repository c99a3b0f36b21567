/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What woke a thread, as far as events show it.
 */
#ifndef POSIXTRACE_WAKER_H
#define POSIXTRACE_WAKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "event/kevent.h"

enum waker_kind {
	WAKER_UNKNOWN,		/* the log lacks the wake-up */
	WAKER_ANOTHER,		/* a thread that the user may not identify */
	WAKER_THREAD,		/* a thread, in a system call or a fault */
	WAKER_INTERRUPT,
	WAKER_SOFTIRQ,		/* in the context of a thread */
	WAKER_TIMER,
	WAKER_CHILD,		/* the end of a child */
	WAKER_SIGNAL,
	WAKER_KERNEL,		/* a kernel thread */
	WAKER_NONE		/* not woken before the end of the trace or thread */
};

/**
 * struct waker - what woke a thread
 * @kind: kind of waker
 * @pid: process of the waker, if it is a thread: see waker_is_thread()
 * @tid: thread id of the waker
 */
struct waker {
	enum waker_kind kind;
	pid_t pid;
	pid_t tid;
};

/* waker_of() - read the waker from the fields of a sched_wakeup */
struct waker waker_of(const struct kevent *kevent);

/*
 * waker_is_thread() - check if @pid and @tid name a thread: the waker itself, the thread in which
 * a softirq ran, the sender of the signal, or the child
 */
bool waker_is_thread(const struct waker *waker);

/* waker_name() - get the name of a kind of waker as in the events; "" for other kinds */
const char *waker_name(enum waker_kind kind);

#endif /* POSIXTRACE_WAKER_H */
