/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a thread as text for people.
 */
#ifndef POSIXTRACE_STATE_TEXT_H
#define POSIXTRACE_STATE_TEXT_H

#include <posixtrace.h>

#include "print/call_text.h"

/**
 * state_text_place() - append where a thread is: its system call, "no system call" or "unknown"
 * @to: where to append
 * @context: initially all zero: see call_text_entry()
 * @source: source of the state
 * @state: the state
 * @put_fd: appends a description of a descriptor; or NULL
 * @fds: argument of @put_fd
 */
void state_text_place(struct buffer *to, struct call_context *context,
		      struct source *source, const struct posixtrace_thread_state *state,
		      void (*put_fd)(struct buffer *to, const void *fds, int64_t fd),
		      const void *fds);

#endif /* POSIXTRACE_STATE_TEXT_H */
