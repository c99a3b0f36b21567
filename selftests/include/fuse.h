/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file system in a process: one file, "log". The server answers its writes, delays them as
 * long as the test likes, or refuses some, and answers all other requests meanwhile.
 *
 * Start it first: the server inherits all open files of its parent. It is killed when its
 * parent ends.
 */
#ifndef _SELFTESTS_FUSE_H
#define _SELFTESTS_FUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The largest size of the file, bytes. */
#define FUSE_FILE_MAX	(4 << 20)

/**
 * struct fuse_shared - memory of server and test
 * @hang: the server must not answer writes; written by the test
 * @error: error number for the writes that fuse_disk.refuse names; 0: none; written by the test
 * @hanging: the server delays a write; written by the server
 * @writes: number of answered writes; written by the server
 * @size: of the file, bytes; written by the server
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
 * struct fuse_disk - the file system, mounted
 * @refuse: which writes are refused while there is an error; NULL for none. Runs in the server
 * @dir: the mount point
 * @server: its process
 * @resume: eventfd: the server answers the delayed writes
 * @shared: memory of server and test
 */
struct fuse_disk {
	bool (*refuse)(const struct fuse_shared *shared, uint64_t pos, const void *data,
		       size_t size);
	char dir[32];
	pid_t server;
	int resume;
	struct fuse_shared *shared;
};

/* Mounts it; @disk->refuse is set. Returns 0 or negative errno. */
int fuse_begin_refusing(struct fuse_disk *disk);

/* As fuse_begin_refusing(), but it refuses nothing. */
static inline int fuse_begin(struct fuse_disk *disk)
{
	disk->refuse = NULL;
	return fuse_begin_refusing(disk);
}

/* Opens the file with @flags. Returns its descriptor, or -1 with errno. */
int fuse_open(const struct fuse_disk *disk, int flags);

/* From now on, the server delays writes, until fuse_resume(). */
static inline void fuse_hang(struct fuse_disk *disk)
{
	atomic_store(&disk->shared->hang, true);
}

/* Waits until the server delays a write. */
void fuse_wait_hanging(struct fuse_disk *disk);

void fuse_resume(struct fuse_disk *disk);

/* Ends the server: all pending requests fail. */
void fuse_kill(struct fuse_disk *disk);

void fuse_end(struct fuse_disk *disk);

#endif /* _SELFTESTS_FUSE_H */
