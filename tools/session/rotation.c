// SPDX-License-Identifier: GPL-2.0
/*
 * Numbered logs: see rotation.h.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <posixtrace.h>

#include "session/rotation.h"
#include "util/duration.h"
#include "util/message.h"

/* A smaller log would contain little more than its metadata. */
#define SIZE_MIN	(64UL << 10)
#define NSEC		1000000000ULL

#define SUFFIX		".log"

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* ------------------------------------------------------------------ */
/* Options								*/

static bool is_size(const char *text)
{
	text += strspn(text, "0123456789");
	return !*text || (strchr("kKmMgG", *text) && !text[1]);
}

/* Parses a size or a time of --rotate. Returns 0, or -EINVAL after printing an error. */
static int parse_limit(struct rotation *rotation, const struct command_option *option,
		       const char *text)
{
	struct command_option size = *option;

	if (is_size(text)) {
		size.min = SIZE_MIN;
		size.max = LONG_MAX;
		return options_size(&size, text, &rotation->size);
	}
	if (duration_parse(text, 0, &rotation->ns) && rotation->ns >= NSEC)
		return 0;
	tell("--%s: must be a size such as 64M, or at least 1s, such as 10min (got \"%s\")",
	     option->name, text);
	return -EINVAL;
}

int rotation_option(struct rotation *rotation, const struct command_option *option,
		    const char *text)
{
	char *copy = strdup(text), *rest = copy, *limit;
	int err = copy ? 0 : -ENOMEM;

	rotation->size = 0;
	rotation->ns = 0;
	while (!err && (limit = strsep(&rest, ",")))
		err = parse_limit(rotation, option, limit);
	free(copy);
	return err;
}

/* ------------------------------------------------------------------ */
/* Files								*/

/* Returns the path of a log, to be freed; NULL if out of memory. */
static char *path_of(const struct rotation *rotation, unsigned int number)
{
	const char *base = rotation->base;
	size_t len = strlen(base), suffix = strlen(SUFFIX);
	char *path;
	int ret;

	if (!number)
		return strdup(base);
	if (len > suffix && base[len - suffix - 1] != '/' && !strcmp(base + len - suffix, SUFFIX))
		ret = asprintf(&path, "%.*s.%u" SUFFIX, (int)(len - suffix), base, number);
	else
		ret = asprintf(&path, "%s.%u", base, number);
	return ret < 0 ? NULL : path;
}

int rotation_begin(struct rotation *rotation, const struct logfile *log)
{
	unsigned long long size;
	int err = 0;
	char *path;

	rotation->base = log->path;
	rotation->began = now();
	if (!rotation->size && !rotation->ns && !rotation->conditions)
		return 0;
	if (!logfile_size(log, &size)) {
		tell("--%s: needs a log that is a regular file",
		     rotation->conditions ? "when" : "rotate");
		return EINVAL;
	}
	path = path_of(rotation, 1);
	if (!path)
		return ENOMEM;
	if (!log->force && !rotation->skip && !access(path, F_OK)) {
		logfile_refuse(log, path);
		err = EEXIST;
	}
	free(path);
	return err;
}

bool rotation_is_due(const struct rotation *rotation, const struct logfile *log)
{
	unsigned long long size;

	if (rotation->ns && now() - rotation->began >= rotation->ns)
		return true;
	return rotation->size && logfile_size(log, &size) && size >= rotation->from &&
	       size - rotation->from >= rotation->size;
}

static void remove_oldest(struct rotation *rotation)
{
	char *path = path_of(rotation, rotation->oldest++);

	if (path && unlink(path) && errno != ENOENT)
		complain(path, errno);
	free(path);
}

/* Removes the oldest log even if there are not too many. Returns false if it is the current one. */
static bool make_room(struct rotation *rotation)
{
	char *path;

	if (!rotation->keep || rotation->oldest == rotation->current)
		return false;
	path = path_of(rotation, rotation->oldest);
	if (path)
		tell("%s: removing the oldest log to make room", path);
	free(path);
	remove_oldest(rotation);
	return true;
}

/* Begins the log @next. Returns 0, or an error number after printing an error. */
static int begin_log(struct logfile *next, bool any_kind, trace_id_t trid, int *end_error)
{
	int err = logfile_open(next, any_kind);

	if (err)
		return err;
	err = posixtrace_rotate(trid, next->fd, end_error);
	if (!err) {
		/*
		 * If logfile_keep() fails, the new log keeps its temporary name, which was printed.
		 */
		logfile_keep(next);
		return 0;
	}
	if (err == EXDEV)
		tell("%s: not the same kind of file as the log", next->path);
	else
		complain(next->path, err);
	logfile_discard(next);
	logfile_close(next);
	return err;
}

/* Finds the path and the number of the next log. Returns NULL if out of memory. */
static char *next_path(const struct rotation *rotation, unsigned int *number)
{
	struct stat st;
	char *path;

	*number = rotation->current + 1;
	path = path_of(rotation, *number);
	while (rotation->skip && path && !lstat(path, &st)) {
		free(path);
		path = path_of(rotation, ++*number);
	}
	return path;
}

static int rotate(struct rotation *rotation, struct logfile *log, trace_id_t trid, int *end_error)
{
	struct logfile next = {
		.force = log->force, .no_force = log->no_force, .mode = log->mode,
	};
	unsigned long long size;
	const bool any_kind = !logfile_size(log, &size);
	unsigned int number;
	char *path = next_path(rotation, &number);
	int err;

	if (!path)
		return ENOMEM;
	next.path = path;
	err = begin_log(&next, any_kind, trid, end_error);
	if ((err == ENOSPC || err == EDQUOT) && make_room(rotation))
		err = begin_log(&next, any_kind, trid, end_error);
	if (err) {
		free(path);
		return err;
	}
	if (!any_kind)
		rotation->written += size;
	logfile_close(log);
	*log = next;
	free(rotation->path);
	rotation->path = path;
	rotation->current = number;
	return 0;
}

int rotation_next(struct rotation *rotation, struct logfile *log, trace_id_t trid, int *end_error)
{
	int err = rotate(rotation, log, trid, end_error);

	rotation->began = now();
	if (err) {
		if (!logfile_size(log, &rotation->from))
			rotation->from = 0;
		return err;
	}
	rotation->from = 0;
	/*
	 * If conditions begin the logs, the current log has no condition yet, so it does not count.
	 */
	while (rotation->keep && rotation->current - rotation->oldest + !rotation->conditions >
	       rotation->keep)
		remove_oldest(rotation);
	return 0;
}

void rotation_free(struct rotation *rotation)
{
	free(rotation->path);
}
