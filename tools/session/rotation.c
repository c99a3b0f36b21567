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
	if (!log->force && !access(path, F_OK)) {
		tell("%s: the file exists; use --force to replace it, or another --output", path);
		err = EEXIST;
	}
	free(path);
	return err;
}

bool rotation_is_due(const struct rotation *rotation, const struct logfile *log)
{
	unsigned long long size;

	if (rotation->failed)
		return false;
	if (rotation->ns && now() - rotation->began >= rotation->ns)
		return true;
	return rotation->size && logfile_size(log, &size) && size >= rotation->size;
}

/* Removes the oldest logs if there are more than rotation.keep. */
static void remove_oldest(struct rotation *rotation)
{
	char *path;

	while (rotation->keep && rotation->current - rotation->oldest >= rotation->keep) {
		path = path_of(rotation, rotation->oldest++);
		if (path && unlink(path) && errno != ENOENT)
			complain(path, errno);
		free(path);
	}
}

/* Begins the log @next. Returns 0, or an error number after printing an error. */
static int rotate(struct logfile *next, trace_id_t trid, int *end_error)
{
	int err = logfile_open(next, true);

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
		tell("%s: not the kind of file that the log is", next->path);
	else
		complain(next->path, err);
	logfile_discard(next);
	logfile_close(next);
	return err;
}

int rotation_next(struct rotation *rotation, struct logfile *log, trace_id_t trid, int *end_error)
{
	struct logfile next = { .force = log->force, .mode = log->mode };
	char *path = path_of(rotation, rotation->current + 1);
	unsigned long long size;
	int err;

	if (!path)
		return ENOMEM;
	next.path = path;
	err = rotate(&next, trid, end_error);
	if (err) {
		free(path);
		rotation->failed = true;
		return err;
	}
	if (logfile_size(log, &size))
		rotation->written += size;
	logfile_close(log);
	*log = next;
	free(rotation->path);
	rotation->path = path;
	rotation->current++;
	rotation->began = now();
	rotation->failed = false;
	remove_oldest(rotation);
	return 0;
}

void rotation_free(struct rotation *rotation)
{
	free(rotation->path);
}
