// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and replaces the file of a log: see logfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "logfile.h"

static bool is_stdout(const struct logfile *log)
{
	return !strcmp(log->path, "-");
}

const char *logfile_name(const struct logfile *log)
{
	return is_stdout(log) ? "standard output" : log->path;
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
 * Is the file the standard output or the standard error, as /dev/stdout is? The program and this
 * command write there, too. A device takes data of all of them, unless it is a terminal.
 */
static bool is_descriptor(const struct stat *st, int fd)
{
	struct stat other;

	return !fstat(fd, &other) && st->st_dev == other.st_dev && st->st_ino == other.st_ino &&
	       (!S_ISCHR(st->st_mode) || isatty(fd));
}

/* Refuses a name of a descriptor of this command. Returns 0, or EINVAL after a complaint. */
static int check_name(const struct logfile *log, const struct stat *st)
{
	if (is_descriptor(st, STDERR_FILENO))
		tell("%s: is the standard error: use another --output", log->path);
	else if (is_descriptor(st, STDOUT_FILENO))
		tell("%s: is the standard output: use -o - to write the log there", log->path);
	else
		return 0;
	return EINVAL;
}

/* Creates a file in the same directory, so that rename() can replace the existing one. */
static int make_fresh(struct logfile *log)
{
	mode_t mask = umask(0);

	umask(mask);
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
	fchmod(log->fd, 0666 & ~mask);
	return 0;
}

/* Returns 0, or an error number after a complaint. */
static int open_existing(struct logfile *log)
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
		tell("%s: the file exists; use --force to replace it, or another --output",
		     log->path);
		return EEXIST;
	}
	if (S_ISREG(st.st_mode)) {
		err = make_fresh(log);
	} else {
		/* Writing to a pipe or a device destroys nothing. */
		log->fd = open(log->path, O_WRONLY | O_CLOEXEC);
		err = log->fd < 0 ? errno : 0;
	}
	if (err)
		complain(log->path, err);
	return err;
}

/* Returns 0, or an error number after a complaint. */
static int open_path(struct logfile *log)
{
	int err;

	/* Also open it for reading: "record" reads the status of the log at the end. */
	log->fd = open(log->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	log->made = log->fd >= 0;
	if (log->made)
		return 0;
	err = errno;
	if (err == EEXIST)
		return open_existing(log);
	complain(log->path, err);
	return err;
}

static int check_kind(const struct logfile *log, bool any_kind)
{
	struct stat st;

	if (fstat(log->fd, &st))
		return errno;
	if (!any_kind && !S_ISREG(st.st_mode)) {
		tell("%s: not a regular file: use --log-policy=append", logfile_name(log));
		return EINVAL;
	}
	return 0;
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
	err = open_path(log);
	if (err)
		return err;
	err = check_kind(log, any_kind);
	if (err)
		logfile_close(log);
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

void logfile_close(struct logfile *log)
{
	if (log->fd != STDOUT_FILENO)
		close(log->fd);
	free(log->fresh);
	log->fresh = NULL;
}
