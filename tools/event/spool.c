// SPDX-License-Identifier: GPL-2.0
/*
 * Makes copies of logs that come through a pipe or are compressed: see spool.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/spool.h"
#include "util/message.h"

#define CHUNK		(256U << 10)
#define LOOK_EVERY	64	/* number of chunks between two checks of the free space */
#define LEAVE_PARTS	20	/* leave 1/20 of the file system free */

/* Stands for standard input: compared by address, so a file may have the same name. */
static const char standard_input[] = "standard input";

/* A copy of @from in the temporary file @to. */
struct spool {
	const char *path;	/* name of the input in messages */
	int from;
	int to;
	unsigned long long copied;	/* bytes so far */
	unsigned char chunk[CHUNK];
};

/* The first bytes of compressed files, and the programs that decompress them. */
static const struct {
	const char *magic;
	size_t len;
	const char *program;
} packers[] = {
	{ "\x1f\x8b", 2, "gzip" },
	{ "\x28\xb5\x2f\xfd", 4, "zstd" },
	{ "\xfd\x37zXZ", 6, "xz" },
};

/* ------------------------------------------------------------------ */
/* Copies								*/

/* Returns the directory for the copy. The default is not /tmp, which is often in memory. */
static const char *directory(void)
{
	const char *name = getenv("TMPDIR");

	if (name && *name)
		return name;
	return access("/var/tmp", W_OK) ? "/tmp" : "/var/tmp";
}

static int make_file(void)
{
	char name[4096];
	int fd = open(directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* O_TMPFILE failed: not every file system supports it. */
	if (snprintf(name, sizeof(name), "%s/posixtrace.XXXXXX", directory()) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static int new_spool(const char *path, int from, struct spool **spool)
{
	struct spool *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->path = path;
	new->from = from;
	new->to = make_file();
	if (new->to < 0) {
		tell("%s: no temporary file in %s: %s; set TMPDIR to another directory", path,
		     directory(), strerror(-new->to));
		free(new);
		return -ECANCELED;
	}
	*spool = new;
	return 0;
}

/* Frees the struct. Returns the descriptor of the copy, or @err after closing it. */
static int end_spool(struct spool *spool, int err)
{
	int fd = spool->to;

	if (err)
		close(fd);
	free(spool);
	return err ? err : fd;
}

static bool has_room(const struct spool *spool)
{
	struct statvfs stat;

	return fstatvfs(spool->to, &stat) || stat.f_bavail >= stat.f_blocks / LEAVE_PARTS;
}

static int write_chunk(const struct spool *spool, size_t len)
{
	ssize_t n;

	for (size_t done = 0; done < len; done += n > 0 ? (size_t)n : 0) {
		n = write(spool->to, spool->chunk + done, len - done);
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Copies until the end. Returns 0, or -ECANCELED after printing an error. */
static int copy(struct spool *spool)
{
	unsigned int chunks = 0;
	ssize_t n;
	int err;

	for (;;) {
		n = read(spool->from, spool->chunk, sizeof(spool->chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			complain(spool->path, errno);
		if (n <= 0)
			return n ? -ECANCELED : 0;
		err = chunks++ % LOOK_EVERY || has_room(spool) ? write_chunk(spool, (size_t)n) :
		      -ENOSPC;
		if (err) {
			tell("%s: no room for the log in %s (%llu MB): %s; set TMPDIR elsewhere",
			     spool->path, directory(), spool->copied >> 20, strerror(-err));
			return -ECANCELED;
		}
		spool->copied += (unsigned long long)n;
	}
}

/* ------------------------------------------------------------------ */
/* Pipes								*/

static void on_interrupt(int number)
{
	(void)number;
}

/*
 * Returns the descriptor of a copy of a pipe, or a negative error number. In "record -o - | dump
 * -", Ctrl-C interrupts both commands. The recorder ends, so continue to read and print what it
 * recorded. A second Ctrl-C ends this command.
 */
static int copy_pipe(const char *path, int from)
{
	const struct sigaction once = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
	struct sigaction old;
	struct spool *spool;
	int err = new_spool(path, from, &spool);

	if (err)
		return err;
	sigaction(SIGINT, NULL, &old);
	if (old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &once, NULL);
	err = copy(spool);
	sigaction(SIGINT, &old, NULL);
	return end_spool(spool, err);
}

/* ------------------------------------------------------------------ */
/* Compressed files							*/

/* Returns the program that decompresses the file, or NULL if it is not compressed. */
static const char *find_packer(int fd)
{
	char magic[8] = "";
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		if (n >= (ssize_t)packers[i].len &&
		    !memcmp(magic, packers[i].magic, packers[i].len))
			return packers[i].program;
	}
	return NULL;
}

bool spool_is_packed(int fd)
{
	return find_packer(fd);
}

/* Executes the program in a child process; does not return. */
static void become_packer(const char *program, int from, int to)
{
	if (dup2(from, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0)
		_exit(126);
	execlp(program, program, "-dcq", NULL);
	_exit(127);
}

/* Starts the program. Returns the descriptor of its output, or a negative error number. */
static int begin_packer(const char *program, int fd, pid_t *pid)
{
	int ends[2], err;

	if (lseek(fd, 0, SEEK_SET) < 0 || pipe2(ends, O_CLOEXEC))
		return -errno;
	*pid = fork();
	err = errno;
	if (!*pid)
		become_packer(program, fd, ends[1]);
	close(ends[1]);
	if (*pid > 0)
		return ends[0];
	close(ends[0]);
	return -err;
}

/* Waits for the program. If it fails at a damaged file, the part before the damage is used. */
static int end_packer(const struct spool *spool, const char *program, pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		tell("%s: compressed: needs the program %s", spool->path, program);
	else
		tell("%s: %s cannot unpack all of it: the rest is missing", spool->path, program);
	return spool->copied ? 0 : -ECANCELED;
}

/* Returns the descriptor of a decompressed copy, or a negative error number. */
static int unpack(const char *path, const char *program, int fd)
{
	struct spool *spool;
	pid_t pid = -1;
	int from = begin_packer(program, fd, &pid), err, ended;

	if (from < 0)
		return from;
	err = new_spool(path, from, &spool);
	if (err) {
		close(from);
		waitpid(pid, NULL, 0);
		return err;
	}
	err = copy(spool);
	/* With the read end closed, the program ends at its next write. */
	close(from);
	ended = err ? 0 : end_packer(spool, program, pid);
	if (err)
		waitpid(pid, NULL, 0);
	return end_spool(spool, err ? err : ended);
}

/* ------------------------------------------------------------------ */
/* Files								*/

bool spool_is_stdin(const char *path)
{
	return path == standard_input;
}

static int open_path(const char *path, struct stat *stat)
{
	/* O_NONBLOCK: the open of a FIFO or device must not block. */
	int fd, flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;

	if (spool_is_stdin(path))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		fd = open(path, flags | O_NONBLOCK);
	if (fd >= 0 && !fstat(fd, stat) && !spool_is_stdin(path) && S_ISFIFO(stat->st_mode)) {
		/* Reopen the pipe without O_NONBLOCK, to wait until it has a writer. */
		close(fd);
		fd = open(path, flags);
	}
	return fd < 0 ? -errno : fd;
}

static int check_kind(const struct stat *stat)
{
	if (S_ISDIR(stat->st_mode))
		return -EISDIR;
	if (!S_ISREG(stat->st_mode) && !S_ISFIFO(stat->st_mode) && !S_ISSOCK(stat->st_mode))
		return -ESPIPE;
	return 0;
}

/* Closes @fd and returns @by, which is another descriptor or a negative error number. */
static int replace(int fd, int by)
{
	close(fd);
	return by;
}

const char *spool_path(const char *operand)
{
	return strcmp(operand, "-") ? operand : standard_input;
}

int spool_open(const char *path, bool *copied)
{
	const char *program;
	struct stat stat;
	int fd = open_path(path, &stat), err;

	*copied = false;
	if (fd < 0)
		return fd;
	err = fstat(fd, &stat) ? -errno : check_kind(&stat);
	if (err)
		return replace(fd, err);
	if (!S_ISREG(stat.st_mode)) {
		*copied = true;
		fd = replace(fd, copy_pipe(path, fd));
	}
	program = fd < 0 ? NULL : find_packer(fd);
	if (program) {
		*copied = true;
		fd = replace(fd, unpack(path, program, fd));
	}
	return fd;
}
