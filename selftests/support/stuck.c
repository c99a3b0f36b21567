// SPDX-License-Identifier: GPL-2.0
/* Logs that accept only a little data, and the log threads that wait for them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loopback.h"
#include "stuck.h"

/* Opens a FIFO for reading and writing, so that neither end is ever closed. */
static int stuck_fifo(int flags)
{
	char path[] = "/tmp/fifoXXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		return -errno;
	close(fd);
	unlink(path);
	if (mkfifo(path, 0600))
		return -errno;
	fd = open(path, O_RDWR | O_CLOEXEC | flags);
	unlink(path);
	return fd < 0 ? -errno : fd;
}

int stuck_blocking_fifo(void)
{
	return stuck_fifo(0);
}

int stuck_nonblocking_fifo(void)
{
	return stuck_fifo(O_NONBLOCK);
}

void stuck_fill(int fd, int left)
{
	static const char page[4096];
	int flags = fcntl(fd, F_GETFL);
	char drop[4096];

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, page, sizeof(page)) > 0)
		;
	for (; left > 0; left -= sizeof(drop)) {
		if (read(fd, drop, sizeof(drop)) <= 0)
			break;
	}
	fcntl(fd, F_SETFL, flags);
}

bool stuck_has_room(int pipe)
{
	struct pollfd ready = { .fd = pipe, .events = POLLOUT };

	return poll(&ready, 1, 0) > 0;
}

int stuck_error_queue(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int stamps = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = 4096;
	/* The peer of the socket. It never reads, and lives as long as the test. */
	int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(name);

	if (fd < 0 || peer < 0 || loopback_up() ||
	    setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)) ||
	    bind(peer, (struct sockaddr *)&name, len) || listen(peer, 1) ||
	    getsockname(peer, (struct sockaddr *)&name, &len) ||
	    connect(fd, (struct sockaddr *)&name, len) || fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK))
		return -errno;
	return fd;
}

int log_thread_find(void)
{
	DIR *proc = opendir("/proc");
	char path[300], name[32];
	struct dirent *entry;
	int found = 0;
	FILE *comm;

	while (proc && !found && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		comm = atoi(entry->d_name) ? fopen(path, "re") : NULL;
		if (!comm)
			continue;
		if (fgets(name, sizeof(name), comm) && !strncmp(name, "posixtrace/", 11))
			found = atoi(entry->d_name);
		fclose(comm);
	}
	if (proc)
		closedir(proc);
	return found;
}

long thread_sleeps(int tid)
{
	char path[64], line[128];
	long count = -1;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	while (status && count < 0 && fgets(line, sizeof(line), status))
		sscanf(line, "voluntary_ctxt_switches: %ld", &count);
	if (status)
		fclose(status);
	return count;
}

bool becomes_true(bool (*is_so)(void *arg), void *arg, int seconds)
{
	unsigned long long end = now() + seconds * NSEC;

	while (!is_so(arg)) {
		if (now() > end)
			return false;
		poll(NULL, 0, 5);
	}
	return true;
}

bool no_log_thread(void *unused)
{
	(void)unused;
	return !log_thread_find();
}

bool module_refcount_is(void *count)
{
	return module_refcount() == *(int *)count;
}

bool has_slept_often(void *tid)
{
	return thread_sleeps(*(int *)tid) > 8;
}

int stuck_create(struct stream *stream, int fd)
{
	create_init(&stream->arg, 0);
	stream->arg.log_fd = fd;
	stream->arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	return command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
}

int stuck_record(struct stream *stream, int events)
{
	struct posixtrace_origin origin = { .prog_address = 0x1234, .thread_id = 0x4321 };
	static const char data[200];
	struct target target;
	int ret = target_open(&target);

	if (!ret)
		ret = stream_start(stream);
	for (int i = 0; i < events && !ret; i++)
		ret = target_event(&target, POSIXTRACE_ID_UNNAMED, data, sizeof(data));
	if (!ret)
		ret = command(stream->fd, POSIXTRACE_IOC_FLUSH, &origin);
	target_close(&target);
	return ret;
}
