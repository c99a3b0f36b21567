// SPDX-License-Identifier: GPL-2.0
/*
 * The files that descriptors referred to before the first event, compared with the files that the
 * test has opened and with /proc/PID/fd.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "kernel_events.h"
#include "loopback.h"
#include "process.h"
#include "uapi.h"
#include "withlog.h"

#define CLASSES		(POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_STRINGS | \
			 POSIXTRACE_CLASS_PROCESS)
#define ROWS_MAX	16384

struct rows {
	struct posixtrace_open_file row[ROWS_MAX];
	size_t count;
};

FIXTURE(files)
{
	struct child child;
	trace_id_t trid;
	struct rows *rows;
};

FIXTURE_SETUP(files)
{
	self->child = (struct child){ .pid = 0 };
	self->trid = 0;
	self->rows = calloc(1, sizeof(*self->rows));
	ASSERT_NE(NULL, self->rows);
}

FIXTURE_TEARDOWN(files)
{
	if (self->trid > 0)
		posix_trace_shutdown(self->trid);
	if (self->child.pid > 0)
		child_kill(&self->child);
	free(self->rows);
}

/* Gets all rows of a stream. Returns 0 or an error number. */
static int get_rows(trace_id_t trid, struct rows *rows)
{
	unsigned long long next = 0;
	size_t count;
	int err;

	rows->count = 0;
	do {
		err = posixtrace_get_files(trid, rows->row + rows->count, ROWS_MAX - rows->count,
					   &count, &next);
		rows->count += err ? 0 : count;
	} while (!err && count && rows->count + POSIXTRACE_FILES_MIN <= ROWS_MAX);
	return err;
}

static const struct posixtrace_open_file *find(const struct rows *rows, pid_t pid, int fd)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->row[i].pid == pid && rows->row[i].fd == fd)
			return &rows->row[i];
	}
	return NULL;
}

static bool is(const struct rows *rows, pid_t pid, int fd, unsigned int kind, const char *text)
{
	const struct posixtrace_open_file *row = find(rows, pid, fd);

	if (row && row->kind == kind && !strcmp(row->text, text))
		return true;
	printf("# descriptor %d: kind %d \"%s\", not \"%s\"\n", fd, row ? (int)row->kind : -1,
	       row ? row->text : "", text);
	return false;
}

/* Returns the number of descriptors of a process, from /proc. */
static size_t descriptors_of(pid_t pid)
{
	char path[64];
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	/* Without "." and "..". */
	return count - 2;
}

static int trace(struct child *child, int (*fn)(void *arg, const struct talk *talk), void *arg,
		 trace_id_t *trid)
{
	int err = child_start(child, fn, arg);

	return err ?: kernel_stream(child->pid, CLASSES, POSIX_TRACE_LOOP, trid);
}

/* ------------------------------------------------------------------ */
/* Kinds								*/

enum {
	PATH, DELETED, LISTENER, CLIENT, SERVER, UNBOUND, LISTENER6, UNIX, UNIX_CLIENT, PAIR, PAIR2,
	PIPE_READ, PIPE_WRITE, EVENT, EPOLL, TIMER, MEMFD, DGRAM, OPENED,
};

static int bound(int type, int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, type, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(fd, (struct sockaddr *)&address, &len))
		return -1;
	*port = ntohs(address.sin_port);
	return fd;
}

static int connected_to(int port, int *own)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(fd, (struct sockaddr *)&address, &len))
		return -1;
	*own = ntohs(address.sin_port);
	return fd;
}

static const struct sockaddr_un unix_address = {
	.sun_family = AF_UNIX, .sun_path = "\0posixtrace-files",
};

#define UNIX_LEN	(offsetof(struct sockaddr_un, sun_path) + 17)

static int tell_fds(const struct talk *talk, const int *fd)
{
	for (int i = 0; i < OPENED; i++)
		say(talk, fd[i]);
	return (int)hear(talk);
}

/* A child function: opens one file of each kind, and reports the descriptors and three ports. */
static int open_all(void *arg, const struct talk *talk)
{
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	int fd[OPENED], port = 0, own = 0, dgram = 0;

	(void)arg;
	fd[PATH] = open("/dev/null", O_RDWR | O_CLOEXEC);
	fd[DELETED] = open("/tmp/pxt-deleted", O_RDWR | O_CREAT, 0600);
	unlink("/tmp/pxt-deleted");
	fd[LISTENER] = bound(SOCK_STREAM, &port);
	listen(fd[LISTENER], 1);
	fd[CLIENT] = connected_to(port, &own);
	fd[SERVER] = accept(fd[LISTENER], NULL, NULL);
	fd[UNBOUND] = socket(AF_INET, SOCK_DGRAM, 0);
	fd[LISTENER6] = socket(AF_INET6, SOCK_STREAM, 0);
	any6.sin6_port = htons(4747);
	if (bind(fd[LISTENER6], (struct sockaddr *)&any6, sizeof(any6)) || listen(fd[LISTENER6], 1))
		fd[LISTENER6] = -1;
	fd[UNIX] = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(fd[UNIX], (const struct sockaddr *)&unix_address, UNIX_LEN);
	listen(fd[UNIX], 1);
	fd[UNIX_CLIENT] = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(fd[UNIX_CLIENT], (const struct sockaddr *)&unix_address, UNIX_LEN);
	socketpair(AF_UNIX, SOCK_STREAM, 0, &fd[PAIR]);
	pipe(&fd[PIPE_READ]);
	fd[EVENT] = eventfd(0, 0);
	fd[EPOLL] = epoll_create1(0);
	fd[TIMER] = timerfd_create(CLOCK_MONOTONIC, 0);
	fd[MEMFD] = memfd_create("spool", 0);
	fd[DGRAM] = bound(SOCK_DGRAM, &dgram);
	say(talk, port);
	say(talk, own);
	say(talk, dgram);
	return tell_fds(talk, fd);
}

TEST_F(files, each_kind_is_named)
{
	int fd[OPENED], port, own, dgram;
	const struct posixtrace_open_file *ends[2];
	unsigned long long before, after;
	const pid_t *pid = &self->child.pid;
	struct rows *rows = self->rows;
	char text[128];

	ASSERT_EQ(0, loopback_up());
	ASSERT_EQ(0, trace(&self->child, open_all, NULL, &self->trid));
	port = (int)hear(&self->child.talk);
	own = (int)hear(&self->child.talk);
	dgram = (int)hear(&self->child.talk);
	for (int i = 0; i < OPENED; i++) {
		fd[i] = (int)hear(&self->child.talk);
		EXPECT_LE(i == LISTENER6 ? -1 : 0, fd[i]);
	}
	before = now();
	ASSERT_EQ(0, get_rows(self->trid, rows));
	after = now();
	EXPECT_EQ(true, is(rows, *pid, fd[PATH], POSIXTRACE_FILE_PATH, "/dev/null"));
	EXPECT_EQ(true, is(rows, *pid, fd[DELETED], POSIXTRACE_FILE_PATH,
			   "/tmp/pxt-deleted (deleted)"));
	snprintf(text, sizeof(text), "tcp:127.0.0.1:%d,listening", port);
	EXPECT_EQ(true, is(rows, *pid, fd[LISTENER], POSIXTRACE_FILE_SOCKET, text));
	snprintf(text, sizeof(text), "tcp:127.0.0.1:%d->127.0.0.1:%d", own, port);
	EXPECT_EQ(true, is(rows, *pid, fd[CLIENT], POSIXTRACE_FILE_SOCKET, text));
	snprintf(text, sizeof(text), "tcp:127.0.0.1:%d->127.0.0.1:%d", port, own);
	EXPECT_EQ(true, is(rows, *pid, fd[SERVER], POSIXTRACE_FILE_SOCKET, text));
	EXPECT_EQ(true, is(rows, *pid, fd[UNBOUND], POSIXTRACE_FILE_SOCKET, "udp"));
	if (fd[LISTENER6] >= 0)
		EXPECT_EQ(true, is(rows, *pid, fd[LISTENER6], POSIXTRACE_FILE_SOCKET,
				   "tcp:[::1]:4747,listening"));
	EXPECT_EQ(true, is(rows, *pid, fd[UNIX], POSIXTRACE_FILE_SOCKET,
			   "unix:@posixtrace-files,listening"));
	snprintf(text, sizeof(text), "unix->@posixtrace-files,pid=%d", (int)*pid);
	EXPECT_EQ(true, is(rows, *pid, fd[UNIX_CLIENT], POSIXTRACE_FILE_SOCKET, text));
	snprintf(text, sizeof(text), "unix,pid=%d", (int)*pid);
	EXPECT_EQ(true, is(rows, *pid, fd[PAIR], POSIXTRACE_FILE_SOCKET, text));
	EXPECT_EQ(true, is(rows, *pid, fd[EVENT], POSIXTRACE_FILE_OTHER, "anon_inode:[eventfd]"));
	EXPECT_EQ(true, is(rows, *pid, fd[EPOLL], POSIXTRACE_FILE_OTHER, "anon_inode:[eventpoll]"));
	EXPECT_EQ(true, is(rows, *pid, fd[TIMER], POSIXTRACE_FILE_OTHER, "anon_inode:[timerfd]"));
	EXPECT_EQ(true, is(rows, *pid, fd[MEMFD], POSIXTRACE_FILE_PATH, "/memfd:spool (deleted)"));
	snprintf(text, sizeof(text), "udp:127.0.0.1:%d", dgram);
	EXPECT_EQ(true, is(rows, *pid, fd[DGRAM], POSIXTRACE_FILE_SOCKET, text));
	for (int i = 0; i < 2; i++) {
		ends[i] = find(rows, *pid, fd[PIPE_READ + i]);
		ASSERT_NE(NULL, ends[i]);
		EXPECT_EQ(POSIXTRACE_FILE_PIPE, ends[i]->kind);
	}
	EXPECT_EQ(POSIXTRACE_FILE_READS | POSIXTRACE_FILE_WRITES | POSIXTRACE_FILE_CLOEXEC,
		  find(rows, *pid, fd[PATH])->flags);
	EXPECT_EQ(POSIXTRACE_FILE_READS, ends[0]->flags);
	EXPECT_EQ(POSIXTRACE_FILE_WRITES, ends[1]->flags);
	EXPECT_EQ(ends[0]->inode, ends[1]->inode);
	for (size_t i = 0; i < rows->count; i++) {
		EXPECT_EQ(0, rows->row[i].flags & POSIXTRACE_FILE_UNSURE);
		EXPECT_LE(before, (unsigned long long)rows->row[i].time.tv_sec * NSEC +
				  (unsigned long long)rows->row[i].time.tv_nsec);
		EXPECT_GE(after, (unsigned long long)rows->row[i].time.tv_sec * NSEC +
				 (unsigned long long)rows->row[i].time.tv_nsec);
	}
	/* Rows for all descriptors, and a row for the process. */
	EXPECT_EQ(descriptors_of(*pid) + 1, rows->count);
	EXPECT_EQ(POSIXTRACE_FILE_TABLE, rows->row[0].kind);
	EXPECT_EQ(-1, rows->row[0].fd);
}

/* ------------------------------------------------------------------ */
/* Tables								*/

static int idle_thread(void *talk)
{
	return (int)hear(talk);
}

/* A child function: creates another process that shares its table of descriptors. */
static int share_table(void *arg, const struct talk *talk)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(idle_thread, stack + sizeof(stack), CLONE_FILES | SIGCHLD, (void *)talk);

	(void)arg;
	say(talk, pid);
	/* Both processes read here. The one that gets a word ends. */
	hear(talk);
	return waitpid(pid, NULL, 0) != pid;
}

TEST_F(files, shared_table_is_unsure)
{
	pid_t sharer;

	ASSERT_EQ(0, child_start(&self->child, share_table, NULL));
	sharer = (pid_t)hear(&self->child.talk);
	ASSERT_LT(0, sharer);
	ASSERT_EQ(0, kernel_stream(self->child.pid, CLASSES, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, get_rows(self->trid, self->rows));
	ASSERT_LT(1, self->rows->count);
	for (size_t i = 0; i < self->rows->count; i++)
		EXPECT_EQ(POSIXTRACE_FILE_UNSURE,
			  self->rows->row[i].flags & POSIXTRACE_FILE_UNSURE);
	kill(sharer, SIGKILL);
}

#define LISTED	8192
#define BEYOND	300

/* A child function: opens more descriptors than the limit of rows. */
static int open_many(void *arg, const struct talk *talk)
{
	struct rlimit limit = { LISTED + 2 * BEYOND, LISTED + 2 * BEYOND };
	int fd = open("/dev/null", O_RDONLY);

	(void)arg;
	say(talk, setrlimit(RLIMIT_NOFILE, &limit));
	for (int i = 0; i < LISTED + BEYOND; i++) {
		if (i >= 100 && dup2(fd, i) != i)
			return 1;
	}
	say(talk, 0);
	return (int)hear(talk);
}

TEST_F(files, further_descriptors_are_counted)
{
	const struct posixtrace_open_file *last;
	struct rows *rows = self->rows;

	ASSERT_EQ(0, trace(&self->child, open_many, NULL, &self->trid));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, get_rows(self->trid, rows));
	last = &rows->row[rows->count - 1];
	EXPECT_EQ(POSIXTRACE_FILE_MORE, last->kind);
	EXPECT_EQ(BEYOND, last->inode);
	EXPECT_EQ(descriptors_of(self->child.pid), rows->count - 2 + BEYOND);
	for (int i = 100; i < LISTED; i++) {
		if (!is(rows, self->child.pid, i, POSIXTRACE_FILE_PATH, "/dev/null"))
			break;
		/* The rows have the order of the descriptors. Each descriptor has one row. */
		if (i > 100)
			EXPECT_EQ(find(rows, self->child.pid, i - 1) + 1,
				  find(rows, self->child.pid, i));
	}
}

static int open_long(void *arg, const struct talk *talk)
{
	char name[201], path[512];

	(void)arg;
	memset(name, 'n', 200);
	name[200] = '\0';
	snprintf(path, sizeof(path), "/tmp/%s", name);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "/tmp/%s/%s", name, name);
	say(talk, open(path, O_RDWR | O_CREAT, 0600));
	unlink(path);
	return (int)hear(talk);
}

TEST_F(files, path_that_is_too_long_is_unknown)
{
	int fd;

	ASSERT_EQ(0, trace(&self->child, open_long, NULL, &self->trid));
	fd = (int)hear(&self->child.talk);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, get_rows(self->trid, self->rows));
	EXPECT_EQ(true, is(self->rows, self->child.pid, fd, POSIXTRACE_FILE_PATH, ""));
}

/* ------------------------------------------------------------------ */
/* Calls								*/

/* Rows contain paths, so the stream needs the class strings. */
TEST_F(files, stream_without_strings_has_none)
{
	struct posixtrace_open_file row[POSIXTRACE_FILES_MIN];
	unsigned long long next = 0;
	size_t count;

	ASSERT_EQ(0, child_start(&self->child, child_idle, NULL));
	ASSERT_EQ(0, kernel_stream(self->child.pid, CLASSES & ~POSIXTRACE_CLASS_STRINGS,
				   POSIX_TRACE_LOOP, &self->trid));
	EXPECT_EQ(ENOTSUP, posixtrace_get_files(self->trid, row, POSIXTRACE_FILES_MIN, &count,
						&next));
	EXPECT_EQ(EINVAL, posixtrace_get_files(self->trid, row, POSIXTRACE_FILES_MIN - 1, &count,
					       &next));
	EXPECT_EQ(EINVAL, posixtrace_get_files(self->trid, NULL, POSIXTRACE_FILES_MIN, &count,
					       &next));
	EXPECT_EQ(EINVAL, posixtrace_get_files(-1, row, POSIXTRACE_FILES_MIN, &count, &next));
}

TEST_F(files, wrong_arguments_are_refused)
{
	static struct posixtrace_file row[POSIXTRACE_FILES_MIN];
	const struct posixtrace_files good = {
		.files = (uintptr_t)row, .count = POSIXTRACE_FILES_MIN,
	};
	struct posixtrace_files arg = good;
	int fd;

	ASSERT_EQ(0, trace(&self->child, child_idle, NULL, &self->trid));
	fd = posixtrace_fd(self->trid);
	ASSERT_EQ(0, command(fd, POSIXTRACE_IOC_FILES, &arg));
	EXPECT_LT(1, arg.count);
	EXPECT_EQ(self->child.pid, row[0].pid);
	arg = good;
	arg.count--;
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_FILES, &arg));
	arg = good;
	arg.pid = -1;
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_FILES, &arg));
	arg = good;
	arg.reserved = 1;
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_FILES, &arg));
	arg = good;
	arg.files = 1;
	EXPECT_EQ(-EFAULT, command(fd, POSIXTRACE_IOC_FILES, &arg));
	EXPECT_EQ(-EFAULT, command(fd, POSIXTRACE_IOC_FILES, (void *)1));
	arg = good;
	arg.pid = INT_MAX;
	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_FILES, &arg));
	EXPECT_EQ(0, arg.count);
	EXPECT_EQ(-1, arg.pid);
	/* The next pid is not traced. */
	arg = good;
	arg.pid = self->child.pid + 1;
	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_FILES, &arg));
	EXPECT_EQ(0, arg.count);
}

/* ------------------------------------------------------------------ */
/* Logs									*/

static int read_log_rows(int fd, struct rows *rows)
{
	trace_id_t log;
	int err;

	if (lseek(fd, 0, SEEK_SET))
		return errno;
	err = posix_trace_open(fd, &log);
	if (err)
		return err;
	err = get_rows(log, rows);
	return err ?: posix_trace_close(log);
}

static int open_null(void *arg, const struct talk *talk)
{
	(void)arg;
	say(talk, dup2(open("/dev/null", O_RDWR), 70));
	return (int)hear(talk);
}

TEST_F(files, log_has_those_of_each_start)
{
	int fd = log_tmpfile();
	size_t count;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_start(&self->child, open_null, NULL));
	ASSERT_EQ(70, hear(&self->child.talk));
	ASSERT_EQ(0, kernel_withlog(self->child.pid, CLASSES, 1 << 20, POSIX_TRACE_APPEND, fd,
				    &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	do {
		ASSERT_EQ(0, read_log_rows(fd, self->rows));
	} while (!self->rows->count);
	EXPECT_EQ(true, is(self->rows, self->child.pid, 70, POSIXTRACE_FILE_PATH, "/dev/null"));
	count = self->rows->count;
	EXPECT_EQ(descriptors_of(self->child.pid) + 1, count);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	do {
		ASSERT_EQ(0, read_log_rows(fd, self->rows));
	} while (self->rows->count < 2 * count);
	EXPECT_EQ(2 * count, self->rows->count);
	close(fd);
}

TEST_HARNESS_MAIN
