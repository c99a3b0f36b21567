/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls as text for people, such as: openat(AT_FDCWD, 0x7ffd0000, O_RDONLY|O_CLOEXEC)
 */
#ifndef POSIXTRACE_CALL_TEXT_H
#define POSIXTRACE_CALL_TEXT_H

#include "analyze/descriptors.h"
#include "event/event.h"
#include "event/kevent.h"
#include "event/syscall_values.h"
#include "util/buffer.h"

/**
 * struct call_context - what is known about the calls of a source
 * @source: source of the last event, or NULL
 * @host: host of the last event, as in struct event
 * @machine: machine on which the calls were made
 * @descriptors: the state before a syscall_entry or after a syscall_exit; or NULL
 */
struct call_context {
	const struct source *source;
	unsigned int host;
	enum syscall_machine machine;
	const struct descriptors *descriptors;
};

/**
 * call_text_entry() - append a system call: read(3</etc/passwd>, 0x7ffd0000, 100)
 * @to: where to append
 * @context: initially all zero; updated by each call
 * @event: ids of the caller; has a source
 * @entry: fields of its syscall_entry
 * @put_fd: appends a description of a descriptor; or NULL
 * @fds: argument of @put_fd
 *
 * Return: true. False without appending if the arguments are unknown, or for a 32-bit program.
 */
bool call_text_entry(struct buffer *to, struct call_context *context, const struct event *event,
		     const struct kevent *entry, syscall_put_fd *put_fd, const void *fds);

/**
 * call_text() - append the call of a syscall_entry, the result of a syscall_exit, or a text:
 *	0x7ffd0000 = "/etc/passwd"
 * @to: where to append
 * @context: initially all zero except the descriptors; updated by each call
 * @event: any event
 *
 * Return: true. False without appending if the event has another type, or if the name of the call
 * is unknown. For a syscall_entry also if the arguments are unknown, or for a 32-bit program.
 */
bool call_text(struct buffer *to, struct call_context *context, const struct event *event);

#endif /* POSIXTRACE_CALL_TEXT_H */
