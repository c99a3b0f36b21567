/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that the program has opened at descriptor numbers that the library had used before, like a
 * daemon that closes all descriptors and then opens others. The library must not change these
 * files.
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
	FOREIGN_DEVICE,		/* the module's device, without a role */
	FOREIGN_TARGET,		/* a target, created without the library */
	FOREIGN_STREAM,
	FOREIGN_DEAD_STREAM,
};

/**
 * struct foreign - a file of the program
 * @kind: its kind
 * @fd: its descriptor
 * @peer: the other end of a pipe or a pair of sockets
 * @stat: the result of fstat()
 * @create: arguments of CREATE, for a stream
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

/*
 * Closes a descriptor, whatever file it refers to, and opens a file with its number. Returns 0 or a
 * negative number.
 */
int foreign_place(struct foreign *file, enum foreign_kind kind, int number, pid_t pid);

/* Checks that the file is unchanged. Returns "", or a description of what has changed. */
const char *foreign_check(const struct foreign *file);

void foreign_close(struct foreign *file);

/* Counts the descriptors of the module in this process, and finds the first one. */
int count_device_fds(int *first);

/* Counts the mappings of the module in this process, of the device and of its anonymous file. */
int count_device_maps(void);

#endif /* _SELFTESTS_FOREIGN_H */
