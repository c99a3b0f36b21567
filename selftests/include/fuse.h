/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A FUSE file system with one file, "log". The server answers writes, delays them as long as the
 * test wants, or refuses some. It keeps answering all other requests.
 *
 * Start it first: the server inherits all open files of its parent. It is killed when its parent
 * ends.
 */
#ifndef _SELFTESTS_FUSE_H
#define _SELFTESTS_FUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum size of the file, bytes. */
#define FUSE_FILE_MAX	(4 << 20)

/**
 * struct fuse_shared - memory shared by server and test
 * @hang: delay writes; written by the test
 * @error: error for the writes that fuse_disk.refuse selects, or 0; written by the test
 * @hanging: a write is being delayed; written by the server
 * @writes: number of answered writes; written by the server
 * @size: size of the file, bytes; written by the server
 * @data: contents of the file; written by the server
 */
struct fuse_shared {
	atomic_bool hang;
	atomic_int error;
	atomic_bool hanging;
	atomic_ulong writes;
	atomic_ulong size;
	char data[FUSE_FILE_MAX];
};

/**
 * struct fuse_disk - a mounted FUSE file system
 * @refuse: select the writes to refuse while @error is set; NULL: no write. Runs in the server
 * @dir: the mount point
 * @server: process id of the server
 * @resume: eventfd that makes the server answer the delayed writes
 * @shared: memory shared by server and test
 */
struct fuse_disk {
	bool (*refuse)(const struct fuse_shared *shared, uint64_t pos, const void *data,
		       size_t size);
	char dir[32];
	pid_t server;
	int resume;
	struct fuse_shared *shared;
};

/* Mounts the file system. The caller has set @disk->refuse. Returns 0 or negative errno. */
int fuse_begin_refusing(struct fuse_disk *disk);

/* Like fuse_begin_refusing(), but never refuses a write. */
static inline int fuse_begin(struct fuse_disk *disk)
{
	disk->refuse = NULL;
	return fuse_begin_refusing(disk);
}

/* Opens the file with @flags. Returns its descriptor, or -1 with errno. */
int fuse_open(const struct fuse_disk *disk, int flags);

/* Makes the server delay writes until fuse_resume(). */
static inline void fuse_hang(struct fuse_disk *disk)
{
	atomic_store(&disk->shared->hang, true);
}

/* Waits until the server is delaying a write. */
void fuse_wait_hanging(struct fuse_disk *disk);

void fuse_resume(struct fuse_disk *disk);

/* Kills the server, so that all pending requests fail. */
void fuse_kill(struct fuse_disk *disk);

void fuse_end(struct fuse_disk *disk);

#endif /* _SELFTESTS_FUSE_H */
