/* SPDX-License-Identifier: GPL-2.0 */
/* Mounts small file systems: in memory, or on a loop device. */
#ifndef _SELFTESTS_DISK_H
#define _SELFTESTS_DISK_H

#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <sys/ioctl.h>

/* Size of a device name. */
#define DISK_NAME	32

/* Leaves @left bytes free in the file system of @ballast. Returns 0, or -1 with errno. */
int disk_fill(int ballast, size_t left);

/* Simulates an error on an ext4 disk, which then becomes read-only for all processes. */
int disk_break(const char *name);

/* Freezes a file system: writers block until it is thawed. Returns 0, or -1 with errno. */
static inline int disk_freeze(int fd)
{
	return ioctl(fd, FIFREEZE, 0);
}

static inline int disk_thaw(int fd)
{
	return ioctl(fd, FITHAW, 0);
}

/**
 * struct disk - a small file system, mounted
 * @dir: the mount point
 * @name: its device, or ""
 * @ballast: an unnamed file, used to fill the file system
 * @fd: another unnamed file
 */
struct disk {
	char dir[32];
	char name[DISK_NAME];
	int ballast;
	int fd;
};

static inline int disk_tmpfile(const struct disk *disk)
{
	return open(disk->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Creates and mounts a file system. Returns 0 or negative errno. */
int disk_begin(struct disk *disk, const char *type);

void disk_end(struct disk *disk);

#endif /* _SELFTESTS_DISK_H */
