/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What system calls do with descriptors.
 */
#ifndef POSIXTRACE_DESCRIPTOR_CALLS_H
#define POSIXTRACE_DESCRIPTOR_CALLS_H

#include <stddef.h>

#include "event/kevent.h"

/* The effect of a system call on the descriptors of the process. */
enum call_effect {
	NOTHING,
	OPENS,			/* opens the path in argument @arg; the result is the descriptor */
	MAKES,			/* the result is a new descriptor without a path */
	DUPLICATES,		/* the result is a duplicate of argument 0 */
	REPLACES,		/* as DUPLICATES, and closes the descriptor in argument 1 */
	CLOSES,			/* closes argument 0 */
	CLOSES_MANY,
	EXECUTES,
	COPIES,			/* a child gets a copy of the table */
	CLONES,			/* argument 0 has the flags of clone() */
	MAY_SHARE,		/* a child may share the table */
	SHARES,			/* a child shares the table, or a thread gets a different one */
	CONTROLS,		/* fcntl() */
	CONTROLS_FILE,		/* ioctl() */
	UNSHARES,		/* argument 0 has the flags of unshare() */
	CONFUSES,		/* may change descriptors without further system calls */
	ADDRESSES,		/* the socket in argument 0 gets a new address */
};

/**
 * struct descriptor_call - a system call
 * @name: its name
 * @effect: what it does
 * @arg: OPENS: the argument with the path
 * @kind: MAKES: the kind of file that the new descriptor refers to, or NULL
 */
struct descriptor_call {
	const char *name;
	enum call_effect effect;
	unsigned int arg;
	const char *kind;
};

/* descriptor_call_find() - find the call of a syscall_entry or syscall_exit; NULL: has no effect */
const struct descriptor_call *descriptor_call_find(const struct kevent *kevent);

/* descriptor_socket_kind() - get the protocol of a socket() call, or "socket" */
const char *descriptor_socket_kind(const struct kevent *entry);

/*
 * descriptor_address_size() - get the length of the part of a socket's name that precedes the
 * address of its peer: the protocol and address of a listening socket, or the protocol of any other
 */
size_t descriptor_address_size(const char *name);

#endif /* POSIXTRACE_DESCRIPTOR_CALLS_H */
