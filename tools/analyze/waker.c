// SPDX-License-Identifier: GPL-2.0
/*
 * Who woke a thread: see waker.h.
 */
#include "analyze/waker.h"

struct waker waker_of(const struct kevent *kevent)
{
	switch (kevent->by) {
	case KEVENT_BY_ANOTHER:
		return (struct waker){ .kind = WAKER_ANOTHER };
	case KEVENT_BY_THREAD:
		return (struct waker){
			.kind = WAKER_THREAD,
			.pid = (pid_t)kevent->waker_pid,
			.tid = (pid_t)kevent->waker_tid,
		};
	case KEVENT_BY_INTERRUPT:
		return (struct waker){ .kind = WAKER_INTERRUPT };
	default:
		return (struct waker){ .kind = WAKER_UNKNOWN };
	}
}

const char *waker_name(enum waker_kind kind)
{
	switch (kind) {
	case WAKER_ANOTHER:
		return "another";
	case WAKER_THREAD:
		return "thread";
	case WAKER_INTERRUPT:
		return "interrupt";
	default:
		return "";
	}
}
