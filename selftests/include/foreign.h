/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of the program with numbers that were the library's, as of a daemon that closes all
 * and opens others. They must not change.
 */
#ifndef _SELFTESTS_FOREIGN_H
#define _SELFTESTS_FOREIGN_H

#include <sys/stat.h>

#include "process.h"
#include "uapi.h"

enum foreign_kind {
	FOREIGN_NONE,		/* the number is unused */
	FOREIGN_FILE,
	FOREIGN_PIPE,
	FOREIGN_SOCKET,
	FOREIGN_DEVICE,		/* the module's, without role */
	FOREIGN_TARGET,		/* with a role; created without the library */
	FOREIGN_STREAM,
	FOREIGN_DEAD_STREAM,
};

/**
 * struct foreign - a file of the program
 * @kind: its kind
 * @fd: its descriptor
 * @peer: the other end of a pipe or a pair of sockets
 * @stat: the result of fstat()
 * @create: of a stream
 */
struct foreign {
	enum foreign_kind kind;
	int fd;
	int peer;
	struct stat stat;
	struct posixtrace_create create;
};

/* Opens a file with the lowest free number. A stream traces @pid. */
int foreign_open(struct foreign *file, enum foreign_kind kind, pid_t pid);

/* Closes a number of any owner, and opens a file in its place. Returns 0 or a negative number. */
int foreign_place(struct foreign *file, enum foreign_kind kind, int number, pid_t pid);

/* Returns "", or a description of the change. */
const char *foreign_check(const struct foreign *file);

void foreign_close(struct foreign *file);

/* The number of this process's descriptors of the module, and the first one. */
int count_device_fds(int *first);

/* The number of mappings of the module in this process; those by targets have another file. */
int count_device_maps(void);

#endif /* _SELFTESTS_FOREIGN_H */
