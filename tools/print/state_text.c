// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a thread as text: see state_text.h.
 */
#include <string.h>

#include "analyze/place_names.h"
#include "analyze/snapshot.h"
#include "print/state_text.h"
#include "util/escape.h"

/* Writes a call whose arguments are unknown, except the descriptor or futex on which it works. */
static void put_plain_call(struct buffer *to, const struct posixtrace_thread_state *state)
{
	const char *arg = place_names_arg(state->call_name);

	if (!state->call_name[0]) {
		buffer_printf(to, "system call %u", state->call);
		return;
	}
	escape_plain(to, state->call_name, strlen(state->call_name));
	if (arg && !strcmp(arg, "address"))
		buffer_printf(to, " 0x%llx", state->args[0]);
	else if (arg)
		buffer_printf(to, " %s %d", arg, (int)state->args[0]);
}

void state_text_place(struct buffer *to, struct call_context *context, struct source *source,
		      const struct posixtrace_thread_state *state, syscall_put_fd *put_fd,
		      const void *fds)
{
	const struct event event = {
		.pid = state->pid, .host = source_host_of(source, state->pid), .source = source,
	};
	struct kevent entry;

	if (!(state->flags & POSIXTRACE_STATE_USER))
		buffer_text(to, "unknown");
	else if (!snapshot_call(state, &entry))
		buffer_text(to, "no system call");
	else if (!call_text_entry(to, context, &event, &entry, put_fd, fds))
		put_plain_call(to, state);
}
