// SPDX-License-Identifier: GPL-2.0
/*
 * Who woke a thread: see waker.h.
 */
#include "analyze/waker.h"

#define NR_KINDS	(WAKER_NONE + 1)

static const struct {
	enum waker_kind kind;
	bool names;		/* the waker is always or sometimes a thread */
} kinds[] = {
	[KEVENT_BY_ANOTHER] = { WAKER_ANOTHER, false },
	[KEVENT_BY_THREAD] = { WAKER_THREAD, true },
	[KEVENT_BY_INTERRUPT] = { WAKER_INTERRUPT, false },
	[KEVENT_BY_SOFTIRQ] = { WAKER_SOFTIRQ, true },
	[KEVENT_BY_TIMER] = { WAKER_TIMER, false },
	[KEVENT_BY_CHILD] = { WAKER_CHILD, true },
	[KEVENT_BY_SIGNAL] = { WAKER_SIGNAL, true },
	[KEVENT_BY_KERNEL] = { WAKER_KERNEL, false },
};

struct waker waker_of(const struct kevent *kevent)
{
	struct waker waker = { .kind = WAKER_UNKNOWN };

	if (kevent->by < 0 || kevent->by > KEVENT_BY_KERNEL)
		return waker;
	waker.kind = kinds[kevent->by].kind;
	if (kinds[kevent->by].names) {
		waker.pid = (pid_t)kevent->waker_pid;
		waker.tid = (pid_t)kevent->waker_tid;
	}
	return waker;
}

bool waker_is_thread(const struct waker *waker)
{
	return waker->kind == WAKER_THREAD || waker->tid;
}

const char *waker_name(enum waker_kind kind)
{
	static const char *const names[NR_KINDS] = {
		[WAKER_ANOTHER] = "another",
		[WAKER_THREAD] = "thread",
		[WAKER_INTERRUPT] = "interrupt",
		[WAKER_SOFTIRQ] = "softirq",
		[WAKER_TIMER] = "timer",
		[WAKER_CHILD] = "child",
		[WAKER_SIGNAL] = "signal",
		[WAKER_KERNEL] = "kernel",
	};

	return names[kind] ? names[kind] : "";
}
