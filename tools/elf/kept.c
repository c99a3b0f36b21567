// SPDX-License-Identifier: GPL-2.0
/*
 * Finds copies of programs and libraries: see kept.h.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/kept.h"

#define BUILD_ID_MAX	20
#define LOG_SUFFIX	".log"

size_t kept_name(const unsigned char *build_id, unsigned int size, char name[KEPT_NAME_SIZE])
{
	size_t len, begin;

	if (size < 2 || size > BUILD_ID_MAX)
		return 0;
	begin = (size_t)snprintf(name, KEPT_NAME_SIZE, ".build-id/%02x/", build_id[0]);
	len = begin;
	for (unsigned int i = 1; i < size; i++)
		len += (size_t)snprintf(name + len, KEPT_NAME_SIZE - len, "%02x", build_id[i]);
	return begin;
}

/* Only root, this user and the owner of the log may write to the directory. */
static bool is_trusted(int dir, const struct stat *log)
{
	struct stat st;

	return !fstat(dir, &st) && !(st.st_mode & 0022) &&
	       (!st.st_uid || st.st_uid == geteuid() || st.st_uid == log->st_uid);
}

static bool is_known(const struct kept *kept, int dir)
{
	struct stat new, known;

	if (fstat(dir, &new))
		return true;
	for (size_t i = 0; i < kept->nr_dirs; i++) {
		if (!fstat(kept->dirs[i], &known) && known.st_dev == new.st_dev &&
		    known.st_ino == new.st_ino)
			return true;
	}
	return false;
}

/*
 * Adds the directory of the log whose path is @log without its last @cut bytes, followed by
 * @suffix.
 */
static void add(struct kept *kept, const char *log, size_t cut, const char *suffix)
{
	struct stat st;
	char *path;
	int dir;

	if (kept->nr_dirs == KEPT_MAX || stat(log, &st) ||
	    asprintf(&path, "%.*s%s" KEPT_SUFFIX, (int)(strlen(log) - cut), log, suffix) < 0)
		return;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	free(path);
	if (dir < 0)
		return;
	if (is_trusted(dir, &st) && !is_known(kept, dir))
		kept->dirs[kept->nr_dirs++] = dir;
	else
		close(dir);
}

void kept_add(struct kept *kept, const char *log)
{
	const size_t suffix = strlen(LOG_SUFFIX), len = strlen(log);
	const bool has_suffix = len > suffix && !strcmp(log + len - suffix, LOG_SUFFIX);
	size_t digits = has_suffix ? len - suffix : len;
	const size_t end = digits;

	add(kept, log, 0, "");
	while (digits && isdigit((unsigned char)log[digits - 1]))
		digits--;
	if (digits < end && digits > 1 && log[digits - 1] == '.')
		add(kept, log, len - digits + 1, has_suffix ? LOG_SUFFIX : "");
}

void kept_close(struct kept *kept)
{
	while (kept->nr_dirs)
		close(kept->dirs[--kept->nr_dirs]);
}
