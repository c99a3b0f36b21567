// SPDX-License-Identifier: MIT
/*
 * System calls as the library needs them: no cancellation points, errno kept.
 * What they are called for is not known here.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pxtu.h"

/* One system call; its error in the return value instead of errno. */
#define sys(...) ({					\
	int saved_errno = errno;			\
	long sys_ret = syscall(__VA_ARGS__);		\
	if (sys_ret < 0)				\
		sys_ret = -errno;			\
	errno = saved_errno;				\
	(int)sys_ret;					\
})

int pxtu_open(const char *path, int flags)
{
	int fd;

	do {
		fd = sys(SYS_openat, AT_FDCWD, path, flags, 0);
	} while (fd == -EINTR);
	return fd;
}

void pxtu_close(int fd)
{
	/* After EINTR Linux has closed it: never again. */
	sys(SYS_close, fd);
}

ssize_t pxtu_pread(int fd, void *to, size_t len, __u64 offset)
{
	int saved_errno = errno, cancel;
	ssize_t ret;

	/* By the C library: how an offset is passed depends on the machine. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do {
		ret = pread64(fd, to, len, (off64_t)offset);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		ret = -errno;
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return ret;
}

int pxtu_ioctl_once(int fd, unsigned long cmd, void *arg)
{
	return sys(SYS_ioctl, fd, cmd, arg);
}

int pxtu_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = pxtu_ioctl_once(fd, cmd, arg);
	} while (ret == -EINTR);
	return ret;
}

int pxtu_checked_once(int fd, __u64 stream, unsigned long cmd, void *arg)
{
	struct posixtrace_checked checked = {
		.stream = stream,
		.arg = (uintptr_t)arg,
		.cmd = (__u32)cmd,
	};

	return pxtu_ioctl_once(fd, POSIXTRACE_IOC_CHECKED, &checked);
}

int pxtu_checked(int fd, __u64 stream, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = pxtu_checked_once(fd, stream, cmd, arg);
	} while (ret == -EINTR);
	return ret;
}

bool pxtu_is_ours(int fd, __u64 stream)
{
	struct posixtrace_info info = { 0 };

	/* An answer that nobody else gives: there are files that say 0 to everything. */
	return !pxtu_checked(fd, stream, POSIXTRACE_IOC_INFO, &info) && info.abi_version;
}

int pxtu_map(int fd, __u64 stream, const struct posixtrace_map *map, __u32 flags,
	     void **address)
{
	struct posixtrace_mapping mapping = { .map = *map, .flags = flags };
	int err = pxtu_checked(fd, stream, POSIXTRACE_IOC_MAP, &mapping);

	if (err)
		return err;
	/* A file that says 0 to everything does nothing. */
	if (!mapping.address)
		return -EBADF;
	*address = (void *)(uintptr_t)mapping.address;
	return 0;
}

/*
 * No system call closes a descriptor if it is a certain file. So between the two,
 * another thread of the program can close it and have another file under its number:
 * as it can between the open() and the close() of any function of any library.
 */
bool pxtu_close_ours(int fd, __u64 stream)
{
	if (!pxtu_is_ours(fd, stream))
		return false;
	pxtu_close(fd);
	return true;
}

/* Does a descriptor lead to the file that has the device's name? */
static bool has_device_open(int fd)
{
	int saved_errno = errno;
	struct stat ours, theirs;
	bool same;

	same = !stat(PXTU_DEVICE, &ours) && !fstat(fd, &theirs) &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
	errno = saved_errno;
	return same;
}

/*
 * st_rdev of the device, from the first descriptor that knew our commands; 0 before.
 * Also in children. If it was that of another file by then, it may be any number: a
 * hint, read and written by any thread.
 */
static __u64 known_device;

void pxtu_device_know(int fd)
{
	int saved_errno = errno;
	struct stat stat;

	if (!pxtu_load(&known_device) && !fstat(fd, &stat))
		pxtu_store(&known_device, stat.st_rdev);
	errno = saved_errno;
}

bool pxtu_device_is_known(void)
{
	__u64 known = pxtu_load(&known_device);
	int saved_errno = errno;
	struct stat file;
	bool same;

	same = known && !stat(PXTU_DEVICE, &file) && file.st_rdev == known;
	errno = saved_errno;
	return same;
}

bool pxtu_close_new(int fd, int err)
{
	/* EBUSY: another one of the module, for ours has no role yet. */
	if (err == -EBUSY || !has_device_open(fd))
		return false;
	pxtu_close(fd);
	return true;
}

void pxtu_futex_wait(int *word, int value)
{
	sys(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
}

void pxtu_futex_wake(int *word)
{
	sys(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

int pxtu_device_open(void)
{
	int fd = pxtu_open(PXTU_DEVICE, O_RDWR | O_CLOEXEC);
	int high;

	switch (fd) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENXIO:
	case -ENODEV:
		return -ENODEV;
	case -EACCES:
		return -EPERM;
	}
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;

	/* It has no role yet: to close a copy of it means nothing to the module. */
	high = sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	pxtu_close_new(fd, 0);
	return high;
}

int pxtu_error(int err)
{
	switch (err) {
	case -ESHUTDOWN:	/* the stream is gone, and with it the trace id */
	case -EBADF:		/* the program closed our descriptor */
	case -ENOTTY:		/* and has another file under its number */
	case -ESTALE:		/* or another stream */
		return EINVAL;
	case -EOPNOTSUPP:
		return ENOTSUP;
	default:
		return -err;
	}
}
