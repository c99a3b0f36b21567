// SPDX-License-Identifier: GPL-2.0
/*
 * The operands LOG: see log_operand.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/log_operand.h"
#include "event/log_folder.h"
#include "event/source.h"
#include "util/message.h"
#include "util/options.h"

static int add_path(struct logs *logs, const char *path)
{
	const char **paths = reallocarray(logs->paths, logs->count + 1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	logs->paths = paths;
	logs->paths[logs->count++] = path;
	return 0;
}

/* Takes over @paths and its contents. */
static int own_paths(struct logs *logs, char **paths, size_t count)
{
	size_t before = 0;
	char **owned;

	while (logs->owned && logs->owned[before])
		before++;
	owned = reallocarray(logs->owned, before + count + 1, sizeof(*owned));
	if (owned) {
		memcpy(owned + before, paths, count * sizeof(*paths));
		owned[before + count] = NULL;
		logs->owned = owned;
	}
	for (size_t i = 0; !owned && i < count; i++)
		free(paths[i]);
	free(paths);
	return owned ? 0 : -ENOMEM;
}

static bool is_folder(const char *path)
{
	struct stat stat_buffer;

	return !source_is_stdin(path) && !stat(path, &stat_buffer) && S_ISDIR(stat_buffer.st_mode);
}

static int add_folder(struct logs *logs, const char *path)
{
	size_t count;
	char **paths;
	int err = log_folder_read(path, &paths, &count);

	for (size_t i = 0; !err && i < count; i++)
		err = add_path(logs, paths[i]);
	if (err == -ECANCELED)
		return err;
	if (own_paths(logs, paths, count))
		return -ENOMEM;
	return err;
}

static int add_operand(struct logs *logs, const char *path)
{
	return is_folder(path) ? add_folder(logs, path) : add_path(logs, path);
}

static void set_name(struct logs *logs)
{
	snprintf(logs->text, sizeof(logs->text), "the set of %zu logs", logs->count);
	logs->name = logs->count > 1 ? logs->text : logs->paths[0];
}

int log_operands(const char *command, int argc, char **argv, struct logs *logs)
{
	int err = 0;

	for (int i = optind; !err && i < argc; i++)
		err = add_operand(logs, source_path(argv[i]));
	if (!err && optind >= argc)
		err = add_path(logs, LOG_DEFAULT);
	if (err) {
		if (err != -ECANCELED)
			complain(command, -err);
		return 1;
	}
	set_name(logs);
	if (optind < argc || !access(LOG_DEFAULT, F_OK) || errno != ENOENT)
		return OPTIONS_OK;
	tell("%s: no %s in this directory: record one, or name a LOG", command, LOG_DEFAULT);
	return 1;
}

void logs_free(struct logs *logs)
{
	for (size_t i = 0; logs->owned && logs->owned[i]; i++)
		free(logs->owned[i]);
	free(logs->owned);
	free(logs->paths);
}
