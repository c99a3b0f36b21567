/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments of system calls on 64-bit machines: their names, and how to show the six argument
 * words of an event.
 */
#ifndef POSIXTRACE_SYSCALL_ARGS_H
#define POSIXTRACE_SYSCALL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#define SYSCALL_ARGS	6	/* registers */

/**
 * struct syscall_args - a system call
 * @name: its name
 * @function: name of the kernel function without "sys_"; NULL if it is the same as @name
 * @args: the arguments, separated by spaces, each as a letter of enum syscall_arg_type, a colon and
 *	the name
 */
struct syscall_args {
	const char *name;
	const char *function;
	const char *args;
};

enum syscall_arg_type {
	SYSCALL_ARG_INT = 'd',		/* signed, 32 bits */
	SYSCALL_ARG_LONG = 'D',		/* signed, 64 bits */
	SYSCALL_ARG_UINT = 'u',		/* unsigned, 32 bits */
	SYSCALL_ARG_ULONG = 'U',	/* unsigned, 64 bits */
	SYSCALL_ARG_BITS = 'x',		/* flags, 32 bits */
	SYSCALL_ARG_WORD = 'X',		/* flags or an address, 64 bits */
	SYSCALL_ARG_TEXT = 's',		/* address of a string */
};

/* One argument of syscall_args.args. */
struct syscall_arg {
	enum syscall_arg_type type;
	const char *name;
	int name_len;
};

/* Find a system call; NULL if it is unknown. */
const struct syscall_args *syscall_args_find(const char *name, size_t len);

/* Get the argument at *@at and advance; start with syscall_args.args. Returns false at the end. */
bool syscall_args_next(const char **at, struct syscall_arg *arg);

#endif /* POSIXTRACE_SYSCALL_ARGS_H */
