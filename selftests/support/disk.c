// SPDX-License-Identifier: GPL-2.0
/* File systems in memory and on a loop device. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk.h"

/* An empty image, provided by "make check". */
#define DISK_IMAGE	"/check/ext4.img"

/* Makes a copy of the image, which is deleted when it is closed. Returns its descriptor. */
static int disk_copy(void)
{
	int from = open(DISK_IMAGE, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("disk", MFD_CLOEXEC);
	struct stat stat;

	if (from < 0 || to < 0 || fstat(from, &stat) ||
	    sendfile(to, from, NULL, stat.st_size) != stat.st_size)
		return -1;
	close(from);
	return to;
}

/*
 * Replaces the descriptor by one that is open for reading only: without
 * CONFIG_BLK_DEV_WRITE_MOUNTED, the kernel does not mount a device that is open for writing.
 */
static int read_only(const char *device, int fd)
{
	int reading = open(device, O_RDONLY | O_CLOEXEC);

	close(fd);
	return reading;
}

/* Attaches a file to a loop device, which is detached when no longer in use. */
static int disk_attach(char *device, size_t size)
{
	struct loop_config config = { .info.lo_flags = LO_FLAGS_AUTOCLEAR };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int number, fd = -1;

	config.fd = disk_copy();
	if (control < 0 || config.fd == ~0U)
		return -1;
	number = ioctl(control, LOOP_CTL_GET_FREE);
	if (number >= 0) {
		snprintf(device, size, "/dev/loop%d", number);
		fd = open(device, O_RDWR | O_CLOEXEC);
	}
	if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config)) {
		close(fd);
		fd = -1;
	}
	close(config.fd);
	close(control);
	return fd >= 0 ? read_only(device, fd) : -1;
}

/*
 * These options keep the file system from reading in the background. While a test freezes tasks,
 * such a read would wait for the thread of the loop device, and could not be frozen.
 */
#define OPTIONS		"errors=remount-ro,noinit_itable,no_prefetch_block_bitmaps"

/*
 * Mounts a file system. Stores the name of its device, or "", in @name. Returns 0 or negative
 * errno.
 */
static int disk_mount(const char *type, const char *dir, char *name)
{
	int fd, err;

	name[0] = '\0';
	if (!strcmp(type, "tmpfs"))
		return mount("none", dir, "tmpfs", 0, "size=512k") ? -errno : 0;
	fd = disk_attach(name, DISK_NAME);
	if (fd < 0)
		return -ENODEV;
	err = mount(name, dir, type, 0, OPTIONS) ? -errno : 0;
	close(fd);
	return err;
}

int disk_fill(int ballast, size_t left)
{
	static const char page[4096];
	size_t size;

	/* When no whole page is free, smaller blocks may still be. */
	for (size = sizeof(page); size; size /= 2) {
		while (write(ballast, page, size) > 0)
			;
	}
	return ftruncate(ballast, lseek(ballast, 0, SEEK_END) - left);
}

int disk_break(const char *name)
{
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/sys/fs/ext4/%s/trigger_fs_error", strrchr(name, '/') + 1);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = write(fd, "selftest", 8) == 8 ? 0 : -EIO;
	close(fd);
	return err;
}

int disk_begin(struct disk *disk, const char *type)
{
	int err;

	strcpy(disk->dir, "/tmp/diskXXXXXX");
	if (!mkdtemp(disk->dir))
		return -errno;
	err = disk_mount(type, disk->dir, disk->name);
	if (err)
		return err;
	disk->ballast = disk_tmpfile(disk);
	disk->fd = disk_tmpfile(disk);
	return disk->ballast < 0 || disk->fd < 0 ? -ENOSPC : 0;
}

void disk_end(struct disk *disk)
{
	close(disk->fd);
	close(disk->ballast);
	umount(disk->dir);
	rmdir(disk->dir);
}
