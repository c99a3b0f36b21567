// SPDX-License-Identifier: GPL-2.0
/*
 * Copies programs and libraries: see keep.h. The traced processes choose the paths, so only regular
 * files are opened, and no links are followed. A copy gets its name when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <posixtrace.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "elf/keep.h"
#include "elf/kept.h"
#include "util/message.h"

#define FILES_MAX	256		/* dump --symbolize opens at most as many */
#define BYTES_MAX	(1ULL << 30)	/* of all files together */
#define CHUNK		(256U << 10)	/* bytes copied between two calls of @stop */
#define BATCH		16		/* mappings read together */
#define TEMPORARY	".new"
#define CHANGED		"it was changed while it was copied"

/* A file that was copied or could not be copied. */
struct item {
	unsigned char build_id[sizeof(((struct posixtrace_mapping_info *)0)->build_id)];
	unsigned int build_id_size;
	char *path;
	bool is_kept;
};

struct keep {
	char *path;		/* of the directory */
	int dir;
	struct item items[FILES_MAX];
	size_t nr_items;
	size_t nr_kept;
	uint64_t bytes;		/* of the kept files */
	bool too_many;		/* it was reported that there are more than FILES_MAX */
	bool stopped;		/* @stop has returned true */
	bool (*stop)(void *arg);
	void *arg;
	char chunk[CHUNK];
};

/* ------------------------------------------------------------------ */
/* The directory							*/

/*
 * Creates a directory, or opens one that only this user can write to. Returns a descriptor or a
 * negative error number.
 */
static int open_directory(int at, const char *path)
{
	struct stat st;
	int dir, err = 0;

	if (mkdirat(at, path, 0700) && errno != EEXIST)
		return -errno;
	dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fstat(dir, &st))
		err = -errno;
	else if (st.st_uid != geteuid() || st.st_mode & 0022)
		err = -EACCES;
	if (!err)
		return dir;
	close(dir);
	return err;
}

int keep_open(const char *path, struct keep **keep)
{
	struct keep *new = calloc(1, sizeof(*new));
	int err = ENOMEM;

	if (!new || asprintf(&new->path, "%s" KEPT_SUFFIX, path) < 0) {
		complain("--keep-binaries", err);
		free(new);
		return err;
	}
	new->dir = open_directory(AT_FDCWD, new->path);
	if (new->dir >= 0) {
		*keep = new;
		return 0;
	}
	err = -new->dir;
	if (err == EACCES)
		tell("%s: not a directory that only this user can write to", new->path);
	else
		complain(new->path, err);
	free(new->path);
	free(new);
	return err;
}

void keep_summary(const struct keep *keep)
{
	tell("%s: %zu programs and libraries, %.1f MB", keep->path, keep->nr_kept,
	     (double)keep->bytes / 1e6);
}

void keep_close(struct keep *keep)
{
	if (!keep)
		return;
	close(keep->dir);
	/* Fails if it contains files. */
	rmdir(keep->path);
	for (size_t i = 0; i < keep->nr_items; i++)
		free(keep->items[i].path);
	free(keep->path);
	free(keep);
}

/* ------------------------------------------------------------------ */
/* A file								*/

/*
 * Opens a regular file, but no device or FIFO. Returns a descriptor, or -1 after storing the reason
 * in *why.
 */
static int open_regular(const char *path, struct stat *st, const char **why)
{
	char name[32];
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), file = -1;

	if (fd < 0) {
		*why = strerror(errno);
		return -1;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	/* Opening a file without a size, as in /proc, may have other effects. */
	if (fstat(fd, st) || !S_ISREG(st->st_mode) || !st->st_size) {
		*why = "not a regular file";
	} else {
		/* Do not wait for a process that has a lease. */
		file = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (file < 0)
			*why = strerror(errno);
	}
	close(fd);
	return file;
}

static bool has_build_id(int fd, const struct item *item)
{
	return build_id_is(fd, item->build_id, item->build_id_size);
}

static bool write_all(int fd, const char *from, size_t len)
{
	ssize_t written;

	for (; len; from += written, len -= (size_t)written) {
		written = write(fd, from, len);
		if (written < 0)
			return false;
	}
	return true;
}

/* Returns NULL, or the reason why the file could not be copied. */
static const char *copy_data(struct keep *keep, int from, int to, uint64_t size)
{
	ssize_t len;

	for (uint64_t left = size; left; left -= (uint64_t)len) {
		if (keep->stop(keep->arg)) {
			keep->stopped = true;
			return "interrupted";
		}
		len = read(from, keep->chunk, left < CHUNK ? (size_t)left : CHUNK);
		if (!len)
			return CHANGED;
		if (len < 0 || !write_all(to, keep->chunk, (size_t)len))
			return strerror(errno);
	}
	return NULL;
}

/* Copies a file to @dir. The copy gets its name if it has the build id. */
static const char *copy_to(struct keep *keep, const struct item *item, int from, int dir,
			   const char *name, uint64_t size)
{
	const char *why;
	int to;

	/* A command that was killed may have left it. */
	unlinkat(dir, TEMPORARY, 0);
	to = openat(dir, TEMPORARY, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0)
		return strerror(errno);
	why = lseek(from, 0, SEEK_SET) ? strerror(errno) : copy_data(keep, from, to, size);
	if (!why && !has_build_id(to, item))
		why = CHANGED;
	if (!why && renameat(dir, TEMPORARY, dir, name))
		why = strerror(errno);
	close(to);
	if (why)
		unlinkat(dir, TEMPORARY, 0);
	return why;
}

/*
 * Opens the directory of a file with a name such as .build-id/01/23ab, whose slashes become null
 * bytes. Returns a descriptor or a negative error number.
 */
static int open_parent(const struct keep *keep, char *name, size_t begin)
{
	char *slash = strchr(name, '/');
	int outer, dir;

	*slash = '\0';
	outer = open_directory(keep->dir, name);
	if (outer < 0)
		return outer;
	name[begin - 1] = '\0';
	dir = open_directory(outer, slash + 1);
	close(outer);
	return dir;
}

/* Removes the directories of open_parent() if they are empty. */
static void remove_empty(const struct keep *keep, char *name, size_t begin)
{
	name[begin - 1] = '\0';
	name[strlen(name)] = '/';
	unlinkat(keep->dir, name, AT_REMOVEDIR);
	*strchr(name, '/') = '\0';
	unlinkat(keep->dir, name, AT_REMOVEDIR);
}

/* Returns NULL, or the reason why the file could not be kept. */
static const char *keep_from(struct keep *keep, const struct item *item, int from, uint64_t size)
{
	char name[KEPT_NAME_SIZE];
	const size_t begin = kept_name(item->build_id, item->build_id_size, name);
	const char *why = NULL;
	struct stat kept;
	int dir;

	if (size > BYTES_MAX - keep->bytes)
		return "all files together would have more than 1 GiB";
	if (!has_build_id(from, item))
		return "not the file that was traced: its build id differs";
	dir = open_parent(keep, name, begin);
	if (dir < 0)
		return strerror(-dir);
	/* After a crash of the machine, a copy may have its name, but not its data. */
	if (fstatat(dir, name + begin, &kept, AT_SYMLINK_NOFOLLOW) || !S_ISREG(kept.st_mode) ||
	    (uint64_t)kept.st_size != size)
		why = copy_to(keep, item, from, dir, name + begin, size);
	close(dir);
	if (why) {
		remove_empty(keep, name, begin);
		return why;
	}
	keep->nr_kept++;
	keep->bytes += size;
	return NULL;
}

/* Returns NULL, or the reason why the file could not be kept. */
static const char *keep_item(struct keep *keep, const struct item *item)
{
	char name[KEPT_NAME_SIZE];
	const char *why;
	struct stat st;
	int from;

	if (!kept_name(item->build_id, item->build_id_size, name))
		return "it has no build id";
	if (item->path[0] != '/')
		return "its path is not known";
	from = open_regular(item->path, &st, &why);
	if (from < 0)
		return why;
	why = keep_from(keep, item, from, (uint64_t)st.st_size);
	close(from);
	return why;
}

/* ------------------------------------------------------------------ */
/* The files of a log							*/

/* Was the file kept, or could it not be kept at this path? It may be found at another path. */
static bool is_known(const struct keep *keep, const struct posixtrace_mapping_info *info)
{
	for (size_t i = 0; i < keep->nr_items; i++) {
		const struct item *item = &keep->items[i];

		if (item->build_id_size == info->build_id_size &&
		    !memcmp(item->build_id, info->build_id, info->build_id_size) &&
		    (item->is_kept || !strcmp(item->path, info->path)))
			return true;
	}
	return false;
}

static int keep_mapping(struct keep *keep, const struct posixtrace_mapping_info *info)
{
	struct item *item = &keep->items[keep->nr_items];
	const char *why;

	if (keep->stopped || keep->too_many || is_known(keep, info))
		return 0;
	if (keep->nr_items == FILES_MAX) {
		tell("more than %d programs and libraries: the others are not kept", FILES_MAX);
		keep->too_many = true;
		return 0;
	}
	item->path = strdup(info->path);
	if (!item->path)
		return ENOMEM;
	memcpy(item->build_id, info->build_id, sizeof(item->build_id));
	item->build_id_size = info->build_id_size;
	keep->nr_items++;
	why = keep_item(keep, item);
	item->is_kept = !why;
	/* Try again if a later log also has it. */
	if (keep->stopped)
		free(keep->items[--keep->nr_items].path);
	else if (why)
		tell("%s: not kept: %s", *info->path ? info->path : "a program or library", why);
	return 0;
}

int keep_log(struct keep *keep, trace_id_t log, bool (*stop)(void *arg), void *arg)
{
	struct posixtrace_mapping_info *infos = calloc(BATCH, sizeof(*infos));
	unsigned long long next = 0;
	size_t count = 1;
	int err = infos ? 0 : ENOMEM;

	keep->stop = stop;
	keep->arg = arg;
	keep->stopped = false;
	while (!err && count && !keep->stopped) {
		err = posixtrace_get_mappings(log, infos, BATCH, &count, &next);
		for (size_t i = 0; !err && i < count; i++)
			err = keep_mapping(keep, &infos[i]);
		if (!keep->stopped && stop(arg))
			keep->stopped = true;
	}
	free(infos);
	if (err)
		complain("--keep-binaries", err);
	else if (keep->stopped)
		tell("%s: interrupted: not all files of this log are kept", keep->path);
	return err;
}
