// SPDX-License-Identifier: GPL-2.0
/* The FUSE server: one file, with writes that the test can delay. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse.h"

#define FUSE_FILE_NODE	2
#define FUSE_HELD_MAX	16

/* Size of a request including its data, in bytes. */
#define FUSE_BUFFER	(1 << 17)

static void fuse_attr_fill(struct fuse_attr *attr, const struct fuse_shared *shared, uint64_t node)
{
	memset(attr, 0, sizeof(*attr));
	attr->ino = node;
	attr->nlink = 1;
	attr->blksize = 4096;
	if (node == FUSE_ROOT_ID) {
		attr->mode = S_IFDIR | 0777;
	} else {
		attr->mode = S_IFREG | 0666;
		attr->size = atomic_load(&shared->size);
	}
}

static void fuse_answer(int device, uint64_t unique, int error, const void *data, size_t len)
{
	char buf[4096];
	struct fuse_out_header *out = (void *)buf;

	*out = (struct fuse_out_header){
		.len = sizeof(*out) + (error ? 0 : len),
		.error = -error,
		.unique = unique,
	};
	if (!error)
		memcpy(out + 1, data, len);
	/* ENOENT: the request was interrupted, or the file system is unmounted. */
	if (write(device, buf, out->len) < 0 && errno != ENOENT)
		_exit(1);
}

static void fuse_answer_attr(int device, uint64_t unique, struct fuse_shared *shared, uint64_t node)
{
	struct fuse_attr_out out = { 0 };

	fuse_attr_fill(&out.attr, shared, node);
	fuse_answer(device, unique, 0, &out, sizeof(out));
}

static void fuse_lookup(int device, const struct fuse_in_header *in, const char *name,
			struct fuse_shared *shared)
{
	struct fuse_entry_out out = { .nodeid = FUSE_FILE_NODE };

	fuse_attr_fill(&out.attr, shared, FUSE_FILE_NODE);
	fuse_answer(device, in->unique, strcmp(name, "log") ? ENOENT : 0, &out, sizeof(out));
}

/* Writes that the server has read but not answered. */
struct fuse_held {
	unsigned int count;
	struct {
		uint64_t unique;
		uint32_t size;
	} write[FUSE_HELD_MAX];
};

static void fuse_answer_write(int device, uint64_t unique, uint32_t size,
			      struct fuse_shared *shared)
{
	struct fuse_write_out out = { .size = size };

	atomic_fetch_add(&shared->writes, 1);
	fuse_answer(device, unique, 0, &out, sizeof(out));
}

static int fuse_refusal(const struct fuse_disk *disk, const struct fuse_write_in *arg)
{
	int error = atomic_load(&disk->shared->error);

	if (error && disk->refuse && disk->refuse(disk->shared, arg->offset, arg + 1, arg->size))
		return error;
	return arg->offset + arg->size > FUSE_FILE_MAX ? ENOSPC : 0;
}

/*
 * Handles a write. The data is put into the file, unless the write is refused. The answer may be
 * delayed.
 */
static void fuse_write(int device, const struct fuse_in_header *in, const struct fuse_disk *disk,
		       struct fuse_held *held)
{
	const struct fuse_write_in *arg = (const void *)(in + 1);
	struct fuse_shared *shared = disk->shared;
	uint64_t end = arg->offset + arg->size;
	int error = fuse_refusal(disk, arg);

	if (error) {
		fuse_answer(device, in->unique, error, NULL, 0);
		return;
	}
	memcpy(shared->data + arg->offset, arg + 1, arg->size);
	if (end > atomic_load(&shared->size))
		atomic_store(&shared->size, end);
	if (atomic_load(&shared->hang) && held->count < FUSE_HELD_MAX) {
		held->write[held->count].unique = in->unique;
		held->write[held->count++].size = arg->size;
		atomic_store(&shared->hanging, true);
	} else {
		fuse_answer_write(device, in->unique, arg->size, shared);
	}
}

static void fuse_answer_held(int device, struct fuse_disk *disk, struct fuse_held *held)
{
	uint64_t times;
	unsigned int i;

	if (read(disk->resume, &times, sizeof(times)) != sizeof(times))
		_exit(1);
	atomic_store(&disk->shared->hanging, false);
	for (i = 0; i < held->count; i++)
		fuse_answer_write(device, held->write[i].unique, held->write[i].size,
				  disk->shared);
	held->count = 0;
}

static void fuse_read(int device, const struct fuse_in_header *in, const struct fuse_shared *shared)
{
	const struct fuse_read_in *arg = (const void *)(in + 1);
	uint64_t size = atomic_load(&shared->size), len = 0;

	/* A short answer means end of file. */
	if (arg->offset < size)
		len = size - arg->offset < arg->size ? size - arg->offset : arg->size;
	if (len > 4096 - sizeof(struct fuse_out_header))
		fuse_answer(device, in->unique, EIO, NULL, 0);
	else
		fuse_answer(device, in->unique, 0, shared->data + arg->offset, len);
}

static void fuse_init(int device, const struct fuse_in_header *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_write = 1 << 16,
		.max_background = 8,
	};

	fuse_answer(device, in->unique, 0, &out, sizeof(out));
}

static void fuse_setattr(int device, const struct fuse_in_header *in, struct fuse_shared *shared)
{
	const struct fuse_setattr_in *arg = (const void *)(in + 1);

	if (arg->valid & FATTR_SIZE)
		atomic_store(&shared->size, arg->size);
	fuse_answer_attr(device, in->unique, shared, in->nodeid);
}

static void fuse_serve(int device, const struct fuse_in_header *in, const struct fuse_disk *disk,
		       struct fuse_held *held)
{
	struct fuse_shared *shared = disk->shared;
	struct fuse_open_out opened = { 0 };

	switch (in->opcode) {
	case FUSE_INIT:
		fuse_init(device, in);
		break;
	case FUSE_LOOKUP:
		fuse_lookup(device, in, (const char *)(in + 1), shared);
		break;
	case FUSE_SETATTR:
		fuse_setattr(device, in, shared);
		break;
	case FUSE_GETATTR:
		fuse_answer_attr(device, in->unique, shared, in->nodeid);
		break;
	case FUSE_OPEN:
		/*
		 * The server handles all reads, and provides the size. close() does not wait for
		 * writes.
		 */
		opened.open_flags = FOPEN_DIRECT_IO | FOPEN_NOFLUSH;
		fuse_answer(device, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		fuse_read(device, in, shared);
		break;
	case FUSE_WRITE:
		fuse_write(device, in, disk, held);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_FSYNC:
		fuse_answer(device, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		fuse_answer(device, in->unique, EOPNOTSUPP, NULL, 0);
	}
}

static void fuse_server(int device, struct fuse_disk *disk, pid_t parent)
{
	static char buf[FUSE_BUFFER] __attribute__((aligned(8)));
	struct pollfd ready[] = {
		{ .fd = device, .events = POLLIN },
		{ .fd = disk->resume, .events = POLLIN },
	};
	struct fuse_held held = { 0 };
	ssize_t len;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (;;) {
		if (poll(ready, 2, -1) < 0)
			continue;
		if (ready[1].revents)
			fuse_answer_held(device, disk, &held);
		if (!ready[0].revents)
			continue;
		len = read(device, buf, sizeof(buf));
		if (len > 0)
			fuse_serve(device, (void *)buf, disk, &held);
		else if (errno != EINTR && errno != ENOENT && errno != EAGAIN)
			_exit(0);	/* ENODEV: unmounted */
	}
}

int fuse_begin_refusing(struct fuse_disk *disk)
{
	int device = open("/dev/fuse", O_RDWR | O_NONBLOCK | O_CLOEXEC), err;
	pid_t parent = getpid();
	char options[96];

	if (device < 0)
		return -errno;
	strcpy(disk->dir, "/tmp/fuseXXXXXX");
	disk->resume = eventfd(0, EFD_CLOEXEC);
	disk->shared = mmap(NULL, sizeof(*disk->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (disk->shared == MAP_FAILED || disk->resume < 0 || !mkdtemp(disk->dir))
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	err = mount("selftest", disk->dir, "fuse", 0, options) ? -errno : 0;
	if (err)
		return err;
	disk->server = fork();
	if (!disk->server)
		fuse_server(device, disk, parent);
	/*
	 * Close our copy, so that only the server has the device open. All requests then end with
	 * the server.
	 */
	close(device);
	return disk->server < 0 ? -errno : 0;
}

int fuse_open(const struct fuse_disk *disk, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/log", disk->dir);
	return open(path, flags | O_CLOEXEC);
}

void fuse_wait_hanging(struct fuse_disk *disk)
{
	while (!atomic_load(&disk->shared->hanging))
		poll(NULL, 0, 1);
}

void fuse_resume(struct fuse_disk *disk)
{
	uint64_t one = 1;

	atomic_store(&disk->shared->hang, false);
	if (write(disk->resume, &one, sizeof(one)) != sizeof(one))
		abort();
}

void fuse_kill(struct fuse_disk *disk)
{
	kill(disk->server, SIGKILL);
	waitpid(disk->server, NULL, 0);
	disk->server = 0;
}

void fuse_end(struct fuse_disk *disk)
{
	if (disk->server)
		fuse_kill(disk);
	umount2(disk->dir, MNT_DETACH);
	rmdir(disk->dir);
	munmap(disk->shared, sizeof(*disk->shared));
	close(disk->resume);
}
