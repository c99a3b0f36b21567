/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of the programs and libraries of a log, in a directory beside it: LOG.binaries contains
 * the file with the build id 0123ab... as .build-id/01/23ab..., like directories of debug
 * information. keep.c writes them for "record --keep-binaries"; kept.c finds them.
 */
#ifndef POSIXTRACE_KEPT_H
#define POSIXTRACE_KEPT_H

#include <stddef.h>
#include <stdint.h>

#define KEPT_SUFFIX	".binaries"

/* Directories that are searched. */
#define KEPT_MAX	64

/* Room for the path of a file in the directory, for any build id. */
#define KEPT_NAME_SIZE	64

struct kept {
	int dirs[KEPT_MAX];
	size_t nr_dirs;
};

/*
 * kept_add() - also search the copies beside a log, and beside the first log of its rotation if it
 * is called LOG.2 or NAME.2.log. Does not use a directory that other users can write to.
 */
void kept_add(struct kept *kept, const char *log);

/*
 * kept_name() - make the path of a file in the directory. Returns the length up to the name of the
 * file, or 0 if it cannot be there.
 */
size_t kept_name(const unsigned char *build_id, unsigned int size, char name[KEPT_NAME_SIZE]);

/* kept_close() - close the directories */
void kept_close(struct kept *kept);

#endif /* POSIXTRACE_KEPT_H */
