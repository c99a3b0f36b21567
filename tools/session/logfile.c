// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and replaces log files: see logfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/logfile.h"
#include "util/message.h"

static bool is_stdout(const struct logfile *log)
{
	return !strcmp(log->path, "-");
}

const char *logfile_name(const struct logfile *log)
{
	return is_stdout(log) ? "standard output" : log->path;
}

void logfile_refuse(const struct logfile *log, const char *path)
{
	tell("%s: the file exists; %s", path, log->no_force ? "use another --output" :
	     "use --force to replace it, or another --output");
}

bool logfile_size(const struct logfile *log, unsigned long long *size)
{
	struct stat st;

	if (fstat(log->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = st.st_size;
	return true;
}

/*
 * Checks if the file is the standard descriptor @fd, for example because its path is /dev/stdout.
 * The log must not share the file with the output of this command or the program. Devices such as
 * /dev/null can be shared, but not terminals.
 */
static bool is_descriptor(const struct stat *st, int fd)
{
	struct stat other;

	return !fstat(fd, &other) && st->st_dev == other.st_dev && st->st_ino == other.st_ino &&
	       (!S_ISCHR(st->st_mode) || isatty(fd));
}

/* Rejects the standard descriptors. Returns 0, or EINVAL after printing an error. */
static int check_name(const struct logfile *log, const struct stat *st)
{
	if (is_descriptor(st, STDERR_FILENO))
		tell("%s: is standard error: use another --output", log->path);
	else if (is_descriptor(st, STDOUT_FILENO))
		tell("%s: is standard output: use -o - to write the log there", log->path);
	else if (S_ISREG(st->st_mode) && is_descriptor(st, STDIN_FILENO))
		tell("%s: is standard input: use another --output", log->path);
	else
		return 0;
	return EINVAL;
}

/* Creates a file in the same directory, so that rename() can replace the existing one. */
static int make_fresh(struct logfile *log)
{
	if (asprintf(&log->fresh, "%s.XXXXXX", log->path) < 0) {
		log->fresh = NULL;
		return ENOMEM;
	}
	log->fd = mkostemp(log->fresh, O_CLOEXEC);
	if (log->fd < 0) {
		int err = errno;

		free(log->fresh);
		log->fresh = NULL;
		return err;
	}
	return 0;
}

/*
 * Checks the owner of a FIFO. In a directory such as /tmp, another user may have planted it to read
 * this user's log. A FIFO owned by root is trusted.
 */
static int check_owner(const struct logfile *log, const struct stat *st)
{
	if (!S_ISFIFO(st->st_mode) || !st->st_uid || st->st_uid == geteuid())
		return 0;
	tell("%s: the FIFO belongs to another user: use another --output", log->path);
	return EACCES;
}

/* Opens a pipe or device, which is never replaced. Returns 0, or an error after printing it. */
static int open_special(struct logfile *log, const struct stat *st)
{
	struct stat opened;
	int err = check_owner(log, st);

	if (err)
		return err;
	log->fd = open(log->path, O_WRONLY | O_CLOEXEC);
	if (log->fd < 0 || fstat(log->fd, &opened)) {
		err = errno;
		complain(log->path, err);
	} else {
		/* Check again, because the file may have been replaced before open(). */
		err = check_owner(log, &opened);
	}
	if (err && log->fd >= 0)
		close(log->fd);
	return err;
}

static int refuse_kind(const struct logfile *log)
{
	tell("%s: not a regular file: %s", logfile_name(log),
	     log->advice ? log->advice : "use another --output");
	return EINVAL;
}

/* Opens an existing file. Returns 0, or an error number after printing an error. */
static int open_existing(struct logfile *log, bool any_kind)
{
	struct stat st;
	int err;

	if (stat(log->path, &st)) {
		err = errno;
		complain(log->path, err);
		return err;
	}
	err = check_name(log, &st);
	if (err)
		return err;
	if (S_ISREG(st.st_mode) && !log->force) {
		logfile_refuse(log, log->path);
		return EEXIST;
	}
	if (!S_ISREG(st.st_mode))
		return any_kind ? open_special(log, &st) : refuse_kind(log);
	err = make_fresh(log);
	if (err)
		complain(log->path, err);
	return err;
}

/* Opens or creates the file at log->path. Returns 0, or an error number after printing an error. */
static int open_path(struct logfile *log, bool any_kind)
{
	int err;

	/* Open also for reading, because "record" reads the status of the finished log. */
	log->fd = open(log->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	log->made = log->fd >= 0;
	if (log->made)
		return 0;
	err = errno;
	if (err == EEXIST)
		return open_existing(log, any_kind);
	complain(log->path, err);
	return err;
}

/* Checks the kind of standard output. */
static int check_kind(const struct logfile *log, bool any_kind)
{
	struct stat st;

	if (fstat(log->fd, &st))
		return errno;
	return any_kind || S_ISREG(st.st_mode) ? 0 : refuse_kind(log);
}

int logfile_open(struct logfile *log, bool any_kind)
{
	int err;

	if (is_stdout(log)) {
		if (isatty(STDOUT_FILENO)) {
			tell("--output: standard output is a terminal: use a file or a pipe");
			return EINVAL;
		}
		log->fd = STDOUT_FILENO;
		return check_kind(log, any_kind);
	}
	err = open_path(log, any_kind);
	if (!err && log->mode && (log->made || log->fresh) && fchmod(log->fd, log->mode)) {
		err = errno;
		complain("--mode", err);
		logfile_discard(log);
		logfile_close(log);
	}
	return err;
}

int logfile_keep(struct logfile *log)
{
	int err;

	if (!log->fresh)
		return 0;
	if (!rename(log->fresh, log->path)) {
		free(log->fresh);
		log->fresh = NULL;
		return 0;
	}
	err = errno;
	tell("%s: cannot replace the file: %s", log->path, strerror(err));
	tell("the log is in %s", log->fresh);
	log->path = log->fresh;
	return err;
}

void logfile_discard(struct logfile *log)
{
	if (log->fresh)
		unlink(log->fresh);
	else if (log->made)
		unlink(log->path);
	free(log->fresh);
	log->fresh = NULL;
	log->made = false;
}

void logfile_remove(const struct logfile *log)
{
	struct stat file, named;

	if (fstat(log->fd, &file) || lstat(log->path, &named) || file.st_dev != named.st_dev ||
	    file.st_ino != named.st_ino)
		return;
	if (unlink(log->path))
		complain(log->path, errno);
}

void logfile_close(struct logfile *log)
{
	if (log->fd != STDOUT_FILENO)
		close(log->fd);
	free(log->fresh);
	log->fresh = NULL;
}
