// SPDX-License-Identifier: GPL-2.0
/*
 * Files that calls pass to the module as a log: files, pipes, sockets and terminals. Many of them
 * never accept data, and only block a thread of the module until the module gives up.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "uapi_fuzz.h"

static long open_path(const char *path, int flags)
{
	return sys(SYS_open, path, flags | O_CLOEXEC, 0600);
}

/*
 * Uses up most of the space, so that a later writer has to wait. Not done in a repeatable run,
 * because that has no signals to end the wait.
 */
static void fill_up(struct actor *a, int fd)
{
	static const char zeros[4096];
	int flags = sys(SYS_fcntl, fd, F_GETFL);
	long left = below(a, 1 << 17), ret;

	if (shared->options.alone)
		return;
	sys(SYS_fcntl, fd, F_SETPIPE_SZ, 4096 << below(a, 5));
	sys(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
	while (left > 0) {
		ret = sys(SYS_write, fd, zeros, left < 4096 ? left : 4096);
		if (ret <= 0)
			break;
		left -= ret;
	}
	sys(SYS_fcntl, fd, F_SETFL, flags);
}

/* Closes the first end, replaces it with a copy of the second end, or leaves it open. */
static long keep_second(struct actor *a, const int *pair)
{
	if (one_in(a, 3))
		fill_up(a, pair[1]);
	/* If both ends remain open, the pair exists as long as the worker. */
	if (one_in(a, 4))
		sys(SYS_close, pair[0]);
	else if (one_in(a, 2))
		sys(SYS_dup3, pair[1], pair[0], O_CLOEXEC);
	return pair[1];
}

static long log_pipe(struct actor *a)
{
	int pair[2];
	long ret = sys(SYS_pipe2, pair, O_CLOEXEC | (one_in(a, 2) ? O_NONBLOCK : 0));

	return ret ? ret : keep_second(a, pair);
}

/* Opens both ends of a pipe as one file. It never ends, and only its owner can read it. */
static long log_fifo(struct actor *a)
{
	char path[64];
	long fd;

	snprintf(path, sizeof(path), "/dev/shm/fifo.%d.%u.%llx", getpid(), a->thread,
		 (unsigned long long)rnd(a));
	if (sys(SYS_mknod, path, S_IFIFO | 0600, 0))
		return -EEXIST;
	fd = open_path(path, O_RDWR | (one_in(a, 2) ? O_NONBLOCK : 0));
	sys(SYS_unlink, path);
	if (fd > 0 && one_in(a, 3))
		fill_up(a, fd);
	return fd;
}

static long log_socketpair(struct actor *a)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
	int type = types[below(a, ARRAY_SIZE(types))] | SOCK_CLOEXEC, pair[2];
	long ret;

	if (one_in(a, 2))
		type |= SOCK_NONBLOCK;
	ret = sys(SYS_socketpair, AF_UNIX, type, 0, pair);
	return ret ? ret : keep_second(a, pair);
}

/* Makes an address for bind(). The kernel chooses the parts that are zero. */
static void fill_name(struct actor *a, int family, struct sockaddr_storage *name, socklen_t *len)
{
	struct sockaddr_in *in = (void *)name;
	struct sockaddr_nl *netlink = (void *)name;
	struct sockaddr_ll *packet = (void *)name;

	*name = (struct sockaddr_storage){ .ss_family = family };
	*len = sizeof(*name);
	if (family == AF_INET) {
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*len = sizeof(*in);
	} else if (family == AF_NETLINK) {
		netlink->nl_groups = one_in(a, 4) ? 1U << below(a, 32) : 0;
		*len = sizeof(*netlink);
	} else if (family == AF_PACKET) {
		packet->sll_protocol = htons(0x88b5);	/* protocol number for experiments */
		packet->sll_ifindex = 1;
		*len = sizeof(*packet);
	} else if (family == AF_UNIX) {
		*len = sizeof(sa_family_t);	/* the kernel chooses an abstract name */
	}
}

/* Makes a socket that is connected to itself, so that written data wait there to be read. */
static long log_socket(struct actor *a)
{
	static const int families[] = {
		AF_UNIX, AF_UNIX, AF_INET, AF_INET, AF_NETLINK, AF_NETLINK, AF_PACKET,
	};
	static const int types[] = {
		SOCK_STREAM, SOCK_DGRAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW,
	};
	int family = families[below(a, ARRAY_SIZE(families))], size = 4096;
	int type = types[below(a, ARRAY_SIZE(types))] | SOCK_CLOEXEC;
	int protocol = family == AF_NETLINK ? NETLINK_USERSOCK : 0;
	struct sockaddr_storage name;
	socklen_t len;
	long fd;

	/* Also try families that the kernel does not have. */
	if (one_in(a, 16))
		family = below(a, AF_MAX);
	if (one_in(a, 16))
		protocol = below(a, 24);
	if (!one_in(a, 4))
		type |= SOCK_NONBLOCK;
	fd = sys(SYS_socket, family, type, protocol);
	if (fd < 0)
		return fd;
	if (one_in(a, 2))
		sys(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	/* An error queue makes poll() report the socket as writable. */
	if (family == AF_INET && one_in(a, 2)) {
		size = 1;
		sys(SYS_setsockopt, fd, IPPROTO_IP, IP_RECVERR, &size, sizeof(size));
	}
	fill_name(a, family, &name, &len);
	sys(SYS_bind, fd, &name, len);
	len = sizeof(name);
	/* Sometimes use a port without a listener, so that errors come back. */
	if (!sys(SYS_getsockname, fd, &name, &len) && family == AF_INET && one_in(a, 4))
		((struct sockaddr_in *)&name)->sin_port = htons(9);
	sys(SYS_connect, fd, &name, len);
	if (one_in(a, 4))
		fill_up(a, fd);
	return fd;
}

/* Opens one end of a terminal. The other end is closed, or is never read. */
static long log_terminal(struct actor *a)
{
	long master = open_path("/dev/ptmx", O_RDWR | O_NOCTTY), slave;
	int zero = 0;

	if (master < 0 || one_in(a, 4))
		return master;
	sys(SYS_ioctl, master, TIOCSPTLCK, &zero);
	slave = sys(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return master;
	if (one_in(a, 2))
		sys(SYS_ioctl, slave, TCXONC, TCOOFF);
	if (one_in(a, 2))
		sys(SYS_fcntl, slave, F_SETFL, O_NONBLOCK);
	/*
	 * Closing the master hangs up the terminal. If it remains open, the buffer of the terminal
	 * fills up.
	 */
	if (one_in(a, 2))
		sys(SYS_dup3, slave, master, O_CLOEXEC);
	return slave;
}

static long log_device(struct actor *a)
{
	static const char * const names[] = {
		"/dev/full", "/dev/null", "/dev/posixtrace", "/dev/zero", "/proc/self/mem",
		"/proc/self/oom_score_adj", "/sys/kernel/mm/page_idle/bitmap", "/dev/shm",
	};

	return open_path(names[below(a, ARRAY_SIZE(names))], O_RDWR);
}

static long log_file(struct actor *a)
{
	static const int flags[] = {
		O_RDWR, O_RDWR, O_RDWR, O_WRONLY, O_RDWR | O_APPEND, O_RDONLY,
	};

	return open_path("/dev/shm", O_TMPFILE | flags[below(a, ARRAY_SIZE(flags))]);
}

/* Opens a pipe that the supervisor reads. */
static long log_drained(struct actor *a)
{
	return sys(SYS_fcntl, PIPE_FD + below(a, PIPES), F_DUPFD_CLOEXEC, 3);
}

/* Opens a file on FUSE, whose server delays writes now and then: see uapi_main.c. */
static long log_fuse(struct actor *a)
{
	return open_path(shared->fuse_path, O_RDWR | (one_in(a, 4) ? O_APPEND : 0));
}

static const struct kind {
	const char *name;
	long (*open)(struct actor *a);
} kinds[LOG_KINDS] = {
	{ "file", log_file },
	{ "device", log_device },
	{ "pipe", log_pipe },
	{ "drained pipe", log_drained },
	{ "socket pair", log_socketpair },
	/*
	 * The errors of the following kinds depend on time, so a repeatable run does not use these
	 * kinds.
	 */
	{ "FIFO", log_fifo },
	{ "terminal", log_terminal },
	{ "FUSE", log_fuse },
	{ "socket", log_socket },
};

/* Number of kinds that a repeatable run uses, from the start of the list. */
#define LOG_KINDS_STEADY	5

/* Opens a new log of the given kind. Returns a descriptor, or negative errno. */
int open_log_of_kind(struct actor *a, unsigned int kind)
{
	a->log_kind = kind;
	return kinds[kind].open(a);
}

/* Opens a new log of a random kind. Returns a descriptor, or negative errno. */
int open_log(struct actor *a)
{
	a->log_kind = below(a, 2) ? below(a, LOG_KINDS) : 0;
	if (shared->options.alone)
		a->log_kind %= LOG_KINDS_STEADY;
	return kinds[a->log_kind].open(a);
}

/* Prints the number of streams for each kind of log. */
void show_logs(void)
{
	unsigned int kind;

	printf("# logs:");
	for (kind = 0; kind < LOG_KINDS; kind++)
		printf(" %s %u", kinds[kind].name,
		       __atomic_load_n(&shared->logs[kind], __ATOMIC_RELAXED));
	printf("\n");
}
