/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of the values of system call arguments, such as O_CLOEXEC.
 */
#ifndef POSIXTRACE_SYSCALL_VALUES_H
#define POSIXTRACE_SYSCALL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/syscall_args.h"
#include "util/buffer.h"

/* The machine on which a call was made: some values have different names on different machines. */
enum syscall_machine {
	SYSCALL_MACHINE_UNKNOWN,	/* use only names with the same value on all machines */
	SYSCALL_MACHINE_X86 = 'x',
	SYSCALL_MACHINE_ARM = 'a',
};

/* Appends a description of a descriptor. */
typedef void syscall_put_fd(struct buffer *to, const void *context, int64_t fd);

/**
 * struct syscall_call - a system call with its arguments
 * @known: from syscall_args_find()
 * @args: one word for each register
 * @machine: machine on which the call was made
 * @put_fd: appends a description of a descriptor; or NULL
 * @context: second argument of @put_fd
 */
struct syscall_call {
	const struct syscall_args *known;
	const int64_t *args;
	enum syscall_machine machine;
	syscall_put_fd *put_fd;
	const void *context;
};

/* syscall_machine_named() - get the machine with a name of uname(), such as "x86_64" */
enum syscall_machine syscall_machine_named(const char *name);

/**
 * syscall_put() - append a call: openat(AT_FDCWD, 0x7ffd0000, O_RDONLY|O_CLOEXEC)
 * @to: where to append
 * @call: the call
 *
 * Values and bits without a name are shown as numbers. Leaves out the mode of open() if the call
 * creates no file, because the register may then have any value.
 */
void syscall_put(struct buffer *to, const struct syscall_call *call);

/* syscall_descriptor() - get the number of the first argument that is a descriptor, or -1 */
int syscall_descriptor(const struct syscall_args *known);

/* syscall_put_result() - append the result of a call as a number or address; @known may be NULL */
void syscall_put_result(struct buffer *to, const struct syscall_args *known, int64_t result);

#endif /* POSIXTRACE_SYSCALL_VALUES_H */
