// SPDX-License-Identifier: GPL-2.0
/*
 * Writes system calls as text: see call_text.h.
 */
#include <string.h>

#include "event/kevent.h"
#include "event/syscall_values.h"
#include "print/call_text.h"
#include "util/escape.h"

static enum syscall_machine find_machine(struct call_context *context, const struct event *event)
{
	struct posixtrace_host_info host;

	if (context->source != event->source || context->host != event->host) {
		context->source = event->source;
		context->host = event->host;
		context->machine = SYSCALL_MACHINE_UNKNOWN;
		if (!source_get_host_of(event->source, event, &host))
			context->machine = syscall_machine_named(host.machine);
	}
	return context->machine;
}

/* Finds the paths of the descriptors that were open before an event. */
struct paths {
	const struct descriptors *descriptors;
	const struct event *event;
};

/* Appends the path of a descriptor, if it is known: </etc/passwd> */
static void put_path(struct buffer *to, const void *context, int64_t fd)
{
	const struct paths *paths = context;
	const char *path = descriptors_path(paths->descriptors, paths->event, fd);

	if (!path)
		return;
	buffer_byte(to, '<');
	escape_plain(to, path, strlen(path));
	buffer_byte(to, '>');
}

bool call_text_entry(struct buffer *to, struct call_context *context, const struct event *event,
		     const struct kevent *entry, syscall_put_fd *put_fd, const void *fds)
{
	struct syscall_call call = {
		.args = entry->args,
		.put_fd = put_fd,
		.context = fds,
	};

	/* Leave out 32-bit calls, whose arguments differ. */
	if (entry->compat || !entry->name.len)
		return false;
	call.known = syscall_args_find(entry->name.at, entry->name.len);
	if (!call.known)
		return false;
	call.machine = find_machine(context, event);
	syscall_put(to, &call);
	return true;
}

static bool put_entry(struct buffer *to, struct call_context *context, const struct event *event)
{
	const struct paths paths = { context->descriptors, event };
	struct kevent kevent;

	return kevent_read(event, &kevent) &&
	       call_text_entry(to, context, event, &kevent,
			       context->descriptors ? put_path : NULL, &paths);
}

static bool put_exit(struct buffer *to, const struct call_context *context,
		     const struct event *event)
{
	const struct paths paths = { context->descriptors, event };
	const struct syscall_args *known = NULL;
	struct kevent_text error;
	char room[KEVENT_ERROR];
	struct kevent kevent;

	if (!kevent_read(event, &kevent) || !kevent.name.len)
		return false;
	if (!kevent.compat)
		known = syscall_args_find(kevent.name.at, kevent.name.len);
	escape_plain(to, kevent.name.at, kevent.name.len);
	buffer_text(to, " = ");
	syscall_put_result(to, known, kevent.result);
	if (context->descriptors && descriptors_makes(&kevent))
		put_path(to, &paths, kevent.result);
	if (kevent.result >= 0 || kevent.result < -KEVENT_ERROR_MAX)
		return true;
	error = kevent_error(event, &kevent, room);
	/* Without a name, the error is only the number, which is already in the result. */
	if (error.at != room) {
		buffer_byte(to, ' ');
		escape_plain(to, error.at, error.len);
	}
	return true;
}

static bool put_text(struct buffer *to, const struct event *event)
{
	struct kevent kevent;

	if (!kevent_read(event, &kevent))
		return false;
	buffer_integer(to, (uint64_t)kevent.address, 16, "0x", 0);
	if (kevent.state == KEVENT_TEXT_ABSENT) {
		buffer_text(to, " is not in memory");
		return true;
	}
	buffer_text(to, " = ");
	escape_quoted(to, kevent.value.at, kevent.value.len);
	if (kevent.state != KEVENT_TEXT_WHOLE)
		buffer_text(to, "...");
	return true;
}

bool call_text(struct buffer *to, struct call_context *context, const struct event *event)
{
	switch (event->type) {
	case POSIXTRACE_SYSCALL_ENTRY:
		return put_entry(to, context, event);
	case POSIXTRACE_SYSCALL_EXIT:
		return put_exit(to, context, event);
	case POSIXTRACE_SYSCALL_TEXT:
		return put_text(to, event);
	default:
		return false;
	}
}
