// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the logs in a directory: see log_folder.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posixtrace_log.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/log_folder.h"
#include "event/spool.h"
#include "util/message.h"

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool is_named_log(const char *path)
{
	static const char suffix[] = ".log";
	const size_t len = strlen(path);

	return len >= strlen(suffix) && !strcmp(path + len - strlen(suffix), suffix);
}

static bool begins_as_log(const char *path)
{
	struct posixtrace_log_header header = { };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool is;

	if (fd < 0)
		return false;
	is = spool_is_packed(fd) ||
	     (pread(fd, header.magic, sizeof(header.magic), 0) == sizeof(header.magic) &&
	      !memcmp(header.magic, POSIXTRACE_LOG_MAGIC, sizeof(header.magic)));
	close(fd);
	return is;
}

static bool is_log(const char *path)
{
	struct stat stat_buffer;

	return !stat(path, &stat_buffer) && S_ISREG(stat_buffer.st_mode) &&
	       (is_named_log(path) || begins_as_log(path));
}

static int take_logs(const char *folder, struct dirent **entries, int n, char **paths,
		     size_t *count)
{
	char *path;

	for (int i = 0; i < n; i++) {
		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			return -ENOMEM;
		if (is_log(path))
			paths[(*count)++] = path;
		else
			free(path);
	}
	return *count ? 0 : -ENOENT;
}

int log_folder_read(const char *path, char ***paths, size_t *count)
{
	struct dirent **entries;
	int err, n = scandir(path, &entries, is_shown, versionsort);

	if (n < 0) {
		complain(path, errno);
		return -ECANCELED;
	}
	*count = 0;
	*paths = calloc((size_t)n + 1, sizeof(char *));
	err = *paths ? take_logs(path, entries, n, *paths, count) : -ENOMEM;
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (!err)
		return 0;
	if (err == -ENOENT)
		tell("%s: no logs in this directory", path);
	else
		complain(path, -err);
	for (size_t i = 0; i < *count; i++)
		free((*paths)[i]);
	free(*paths);
	return -ECANCELED;
}
