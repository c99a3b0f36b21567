// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on files of the device: open, close, send to other workers. Also calls that need no
 * role.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "uapi_fuzz.h"

long op_open(struct actor *a)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY };
	int flags = one_in(a, 3) ? 0 : O_CLOEXEC;
	long fd;

	flags |= one_in(a, 16) ? modes[below(a, ARRAY_SIZE(modes))] : O_RDWR;
	fd = sys(SYS_open, "/dev/posixtrace", flags);
	if (fd > 0)
		add_file(a, fd);
	return fd;
}

/* Closes a file. Occasionally closes all files, so that the next calls start without files. */
long op_close(struct actor *a)
{
	struct file *file = pick_file(a, ROLE_ANY);
	unsigned int i, n = one_in(a, 16) ? FILES_MAX : 1;
	long ret = -EBADF;
	int fd;

	for (i = 0; file && i < n; i++) {
		fd = file->fd;
		/*
		 * Occasionally keep the entry of the closed file in the list: its number may then
		 * be any other file.
		 */
		if (!one_in(a, 16))
			file->fd = 0;
		ret = sys(SYS_close, fd);
		file = pick_file(a, ROLE_ANY);
	}
	return ret;
}

/* Duplicates a descriptor. It may replace another file, which is then closed. */
long op_dup(struct actor *a)
{
	struct file *file = pick_file(a, ROLE_ANY), *other, from;
	long fd;

	if (!file)
		return -EBADF;
	from = *file;
	if (one_in(a, 2)) {
		fd = sys(SYS_dup, from.fd);
		if (fd <= 0)
			return fd;
		from.fd = fd;
		*add_file(a, fd) = from;
		return fd;
	}
	a->call.pick = rnd(a);
	other = pick_file(a, ROLE_ANY);
	if (!other)
		return -EBADF;
	fd = sys(SYS_dup3, from.fd, other->fd, one_in(a, 2) ? O_CLOEXEC : 0);
	if (fd > 0) {
		from.fd = fd;
		*other = from;
	}
	return fd;
}

/* Sends the file to any worker, through a socket that all workers share. */
static long send_file(const struct file *file)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte = file->role;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &file->fd, sizeof(int));
	return sys(SYS_sendmsg, PIPE_FD + PIPES, &msg, MSG_DONTWAIT);
}

static long receive_file(struct actor *a)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	long ret = sys(SYS_recvmsg, PIPE_FD + PIPES + 1, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd;

	if (ret != 1 || control.head.cmsg_len != CMSG_LEN(sizeof(int)))
		return ret < 0 ? ret : -EPROTO;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(int));
	add_file(a, fd)->role = byte % ROLE_ANY;
	return fd;
}

long op_pass(struct actor *a)
{
	struct file *file = pick_file(a, ROLE_ANY);

	if (file && one_in(a, 2))
		return send_file(file);
	return receive_file(a);
}

long op_poll(struct actor *a)
{
	struct file *file = pick_file(a, one_in(a, 4) ? ROLE_ANY : ROLE_STREAM);
	struct pollfd pollfd = { .events = rnd(a) };
	struct epoll_event event = { .events = rnd(a) };
	long epoll, ret;

	if (!file)
		return -EBADF;
	pollfd.fd = file->fd;
	if (!one_in(a, 4))
		return sys(SYS_poll, &pollfd, 1, below(a, 4));
	epoll = sys(SYS_epoll_create1, EPOLL_CLOEXEC);
	if (epoll < 0)
		return epoll;
	sys(SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, file->fd, &event);
	ret = sys(SYS_epoll_wait, epoll, &event, 1, below(a, 4));
	/* Sometimes close the file before the epoll. */
	if (one_in(a, 4)) {
		sys(SYS_close, file->fd);
		file->fd = 0;
	}
	sys(SYS_close, epoll);
	return ret;
}

/* Makes calls that the device does not support, or that the kernel handles itself. */
long op_other_call(struct actor *a)
{
	struct file *file = pick_file(a, ROLE_ANY);
	char *data = a->arena + ARENA_DATA;
	int fd = file ? file->fd : -1;

	switch (below(a, 8)) {
	case 0:
		return sys(SYS_read, fd, data, below(a, 100));
	case 1:
		return sys(SYS_write, fd, data, below(a, 100));
	case 2:
		return sys(SYS_lseek, fd, rnd(a), below(a, 5));
	case 3:
		return sys(SYS_fcntl, fd, F_SETFL, rnd(a) & (O_APPEND | O_NONBLOCK | O_ASYNC));
	case 4:
		return sys(SYS_fstat, fd, data);
	case 5:
		return sys(SYS_fsync, fd);
	case 6:
		return sys(SYS_ftruncate, fd, below(a, 1 << 20));
	default:
		return sys(SYS_flock, fd, 4 | (1 << below(a, 3)));
	}
}

long op_info(struct actor *a)
{
	return ioctl_with(a, pick_file(a, ROLE_ANY), POSIXTRACE_IOC_INFO, argument(a),
			  sizeof(struct posixtrace_info));
}

/* Makes a nearly valid command, or an arbitrary one. */
long op_unknown(struct actor *a)
{
	uint64_t *arg = argument(a);
	unsigned int cmd = one_in(a, 4) ? rnd(a) :
			   _IOC(below(a, 4), POSIXTRACE_IOC_MAGIC, below(a, 256), below(a, 1024));
	unsigned int i;

	for (i = 0; i < ARG_MAX / sizeof(*arg); i++)
		arg[i] = one_in(a, 4) ? rnd(a) : 0;
	/* The number may also be one that the kernel handles for any file, such as FIOCLEX. */
	return ioctl_with(a, pick_file(a, ROLE_ANY), cmd, arg, 0);
}
