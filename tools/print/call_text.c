// SPDX-License-Identifier: GPL-2.0
/*
 * Writes system calls as text: see call_text.h.
 */
#include <string.h>
#include <trace.h>

#include "event/kevent.h"
#include "event/syscall_values.h"
#include "print/call_text.h"
#include "util/escape.h"

static enum syscall_machine find_machine(struct call_machine *machine, struct source *source)
{
	struct posixtrace_host_info host;

	if (machine->source != source) {
		machine->source = source;
		machine->number = SYSCALL_MACHINE_UNKNOWN;
		if (!posixtrace_get_host(source_trid(source), &host))
			machine->number = (int)syscall_machine_named(host.machine);
	}
	return (enum syscall_machine)machine->number;
}

static bool put_entry(struct buffer *to, struct call_machine *machine, const struct event *event)
{
	struct syscall_call call;
	struct kevent kevent;

	/* Programs of 32 bits have other arguments. */
	if (!kevent_read(event, &kevent) || kevent.compat || !kevent.name.len)
		return false;
	call.known = syscall_args_find(kevent.name.at, kevent.name.len);
	if (!call.known)
		return false;
	call.args = kevent.args;
	call.machine = find_machine(machine, event->source);
	syscall_put(to, &call);
	return true;
}

static bool put_exit(struct buffer *to, const struct event *event)
{
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
	if (kevent.result >= 0 || kevent.result < -KEVENT_ERROR_MAX)
		return true;
	error = kevent_error(event, &kevent, room);
	/* The number has been printed. */
	if (error.at != room) {
		buffer_byte(to, ' ');
		escape_plain(to, error.at, error.len);
	}
	return true;
}

/* The fields of a syscall_text. Without a field, it is another type. */
struct text {
	struct posixtrace_value address;
	struct posixtrace_value state;
	struct posixtrace_value value;
};

static bool read_text(const struct event *event, struct text *text)
{
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	int ret;

	if (!event->description || event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		return false;
	posixtrace_fields_begin(&walk, event->description->fields, event->data, event->len);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1) {
		if (value.what != POSIXTRACE_VALUE || !value.field->name)
			continue;
		if (!strcmp(value.field->name, "address") && !value_is_text(&value))
			text->address = value;
		else if (!strcmp(value.field->name, "state") && value.label)
			text->state = value;
		else if (!strcmp(value.field->name, "value") && value_is_text(&value))
			text->value = value;
	}
	return !ret && text->address.field && text->state.field && text->value.field;
}

static bool put_text(struct buffer *to, const struct event *event)
{
	struct text text = { };

	if (!read_text(event, &text))
		return false;
	buffer_integer(to, text.address.number, 16, "0x", 0);
	if (!strcmp(text.state.label, "absent")) {
		buffer_text(to, " is not in memory");
		return true;
	}
	buffer_text(to, " = ");
	escape_quoted(to, text.value.data, text.value.text_len);
	if (strcmp(text.state.label, "whole") != 0)
		buffer_text(to, "...");
	return true;
}

bool call_text(struct buffer *to, struct call_machine *machine, const struct event *event)
{
	switch (event->type) {
	case POSIXTRACE_SYSCALL_ENTRY:
		return put_entry(to, machine, event);
	case POSIXTRACE_SYSCALL_EXIT:
		return put_exit(to, event);
	case POSIXTRACE_SYSCALL_TEXT:
		return put_text(to, event);
	default:
		return false;
	}
}
