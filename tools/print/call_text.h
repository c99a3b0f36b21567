/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls as text for people, such as: openat(AT_FDCWD, 0x7ffd0000, O_RDONLY|O_CLOEXEC)
 */
#ifndef POSIXTRACE_CALL_TEXT_H
#define POSIXTRACE_CALL_TEXT_H

#include "event/event.h"
#include "util/buffer.h"

/* Where the calls of a source were made. */
struct call_machine {
	const struct source *source;	/* that of the last event, or NULL */
	int number;			/* enum syscall_machine */
};

/**
 * call_text() - append the call of a syscall_entry, the result of a syscall_exit, or a text:
 *	0x7ffd0000 = "/etc/passwd"
 * @to: where to append
 * @machine: zeroed at first; updated
 * @event: any event
 *
 * Return: false without appending if it is another event, or if the name of the call is not known.
 *	An entry also needs a call with known arguments, of a 64-bit program.
 */
bool call_text(struct buffer *to, struct call_machine *machine, const struct event *event);

#endif /* POSIXTRACE_CALL_TEXT_H */
