// SPDX-License-Identifier: GPL-2.0
/*
 * Perf maps of processes: see jitmaps.h. A map is used only if it was last changed while the
 * process ran. Otherwise an earlier or later process with the same id may have written it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "elf/images.h"
#include "elf/jitmap.h"
#include "elf/jitmaps.h"
#include "elf/process_now.h"
#include "util/message.h"
#include "util/threads.h"

#define PROCESSES_MAX	4096		/* processes whose maps are searched for */
#define MAPS_MAX	64		/* opened maps */
/* limit for all maps together */
#define BYTES_MAX	(256UL << 20)
#define ENTRIES_MAX	(4UL << 20)

/**
 * struct process - the perf map of a process
 * @looked: it was looked for
 * @told: a message has said why it is not used
 * @map: the map, or NULL
 * @path: path of the map
 * @written: time of the last change of the map
 * @runs: @now is valid: the process still runs
 * @now: the running process
 */
struct process {
	bool looked;
	bool told;
	struct jitmap *map;
	char *path;
	uint64_t written;
	bool runs;
	struct process_now now;
};

/**
 * struct jitmaps - perf maps
 * @root: directory with the files of the traced machine, or -1
 * @root_path: its path, or NULL
 * @owner: user of @root
 * @numbers: numbers of processes
 * @processes: index: number of the process
 * @nr_maps: number of opened maps
 * @too_many: the limit of maps was reported
 * @images: when processes ran; NULL: maps are not looked for
 * @complete: the log does not grow: a map need not be read again
 * @budget: what is left of the limits of all maps
 */
struct jitmaps {
	int root;
	const char *root_path;
	uid_t owner;
	struct threads *numbers;
	struct process *processes;
	size_t nr_maps;
	bool too_many;
	struct images *images;
	bool complete;
	struct jitmap_budget budget;
};

int jitmaps_new(int root, const char *root_path, struct jitmaps **maps)
{
	struct jitmaps *new = calloc(1, sizeof(*new));
	struct stat stat_of;

	if (!new)
		return -ENOMEM;
	new->root = root;
	new->root_path = root_path;
	if (root >= 0 && !fstat(root, &stat_of))
		new->owner = stat_of.st_uid;
	new->budget = (struct jitmap_budget){ .bytes = BYTES_MAX, .entries = ENTRIES_MAX };
	*maps = new;
	return 0;
}

static void free_processes(struct jitmaps *maps)
{
	for (size_t i = 0; maps->processes && i <= PROCESSES_MAX; i++) {
		jitmap_free(maps->processes[i].map);
		free(maps->processes[i].path);
		if (maps->processes[i].runs)
			process_now_close(&maps->processes[i].now);
	}
	free(maps->processes);
	maps->processes = NULL;
	threads_free(maps->numbers);
	maps->numbers = NULL;
	images_free(maps->images);
	maps->images = NULL;
	maps->nr_maps = 0;
}

static int new_processes(struct jitmaps *maps)
{
	maps->processes = calloc(PROCESSES_MAX + 1, sizeof(*maps->processes));
	if (!maps->processes || threads_new(PROCESSES_MAX, &maps->numbers))
		return -ENOMEM;
	return images_new(&maps->images);
}

void jitmaps_free(struct jitmaps *maps)
{
	if (!maps)
		return;
	free_processes(maps);
	free(maps);
}

/* ------------------------------------------------------------------ */
/* Files								*/

/*
 * Opens a path below @root. ".." and links cannot leave @root. The last component must not be a
 * link.
 */
static int open_below(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)flags | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT,
	};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int open_root(const struct jitmaps *maps)
{
	return maps->root >= 0 ? fcntl(maps->root, F_DUPFD_CLOEXEC, 0) :
				 open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_map_name(const char *name)
{
	static const char begin[] = "perf-";
	const char *at = name + strlen(begin);

	if (strncmp(name, begin, strlen(begin)) != 0)
		return false;
	at += strspn(at, "0123456789");
	return !strcmp(at, ".map");
}

/* Is there any perf map in /tmp, so that it is worth reading the log once more? */
static bool has_maps(const struct jitmaps *maps)
{
	int root = open_root(maps), fd = root < 0 ? -1 : open_below(root, "tmp", O_DIRECTORY);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory)))
		found = is_map_name(entry->d_name);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	return found;
}

int jitmaps_learn(struct jitmaps *maps, struct source *source, bool complete)
{
	int err;

	free_processes(maps);
	maps->complete = complete;
	/* Processes that still run may be in containers, each with a separate /tmp. */
	if (complete && !has_maps(maps) && (maps->root >= 0 || !process_now_has_boot(source)))
		return 0;
	err = new_processes(maps);
	return err ? err : images_read(maps->images, source);
}

int jitmaps_event(struct jitmaps *maps, const struct event *event)
{
	return maps->images ? images_event(maps->images, event) : 0;
}

/*
 * Checks the owner of a map. The user who reads the log, root, and the user of the process are
 * trusted. With --symfs, the owner of that directory is as well.
 */
static bool is_trusted(const struct jitmaps *maps, const struct process *process, uid_t uid)
{
	return !uid || uid == geteuid() || (process->runs && uid == process->now.uid) ||
	       (maps->root >= 0 && uid == maps->owner);
}

/* Does not open FIFOs or devices. Returns a descriptor, or -1 and the reason in *why. */
static int open_checked(const struct jitmaps *maps, const struct process *process, int root,
			const char *path, const char **why)
{
	int fd = -1, found = open_below(root, path, O_PATH);
	struct stat stat_of;
	char link[32];

	*why = NULL;
	if (found < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			*why = strerror(errno);
		return -1;
	}
	if (fstat(found, &stat_of) || !S_ISREG(stat_of.st_mode)) {
		*why = "not a regular file";
	} else if (!is_trusted(maps, process, stat_of.st_uid)) {
		*why = "belongs to another user";
	} else {
		/*
		 * Reopen the same file through its descriptor, even if its path now refers to a
		 * different file.
		 */
		snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			*why = strerror(errno);
	}
	close(found);
	return fd;
}

static const char *update(struct process *process)
{
	int err = jitmap_update(process->map, &process->written);

	if (!err)
		return NULL;
	jitmap_free(process->map);
	process->map = NULL;
	switch (err) {
	case -EFBIG:
		return "too large";
	case -ESTALE:
		return "was written again";
	default:
		return strerror(-err);
	}
}

static void tell_unused(struct process *process, const char *why)
{
	if (!process->told)
		tell("%s: %s; its functions are not shown", process->path, why);
	process->told = true;
}

/*
 * Opens the map in the process's own /tmp. Its name has the id of the process in its own namespace.
 */
static const char *open_map(struct jitmaps *maps, struct process *process, pid_t pid, int root)
{
	const char *why;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)pid);
	fd = open_checked(maps, process, root, path, &why);
	if (fd < 0)
		return why;
	if (maps->nr_maps == MAPS_MAX) {
		if (!maps->too_many)
			tell("more than %d perf maps: functions of the others are not shown",
			     MAPS_MAX);
		maps->too_many = true;
		close(fd);
		return NULL;
	}
	maps->nr_maps++;
	if (jitmap_new(fd, &maps->budget, &process->map))
		return strerror(ENOMEM);
	return update(process);
}

static void look(struct jitmaps *maps, struct process *process, const struct event *event)
{
	pid_t pid = source_plain_id(event->source, event->pid);
	const char *why = NULL;
	char where[32] = "";
	int root;

	process->looked = true;
	process->runs = maps->root < 0 && process_now_find(event, &process->now);
	/* Without access to the root of a container, our own /tmp must not be used instead. */
	if (process->runs && process->now.nested && process->now.root < 0)
		return;
	if (process->runs && process->now.root >= 0) {
		root = fcntl(process->now.root, F_DUPFD_CLOEXEC, 0);
		if (process->now.nested)
			snprintf(where, sizeof(where), "/proc/%d/root", (int)pid);
	} else {
		root = open_root(maps);
	}
	if (process->runs)
		pid = process->now.pid;
	if (asprintf(&process->path, "%s/tmp/perf-%d.map", maps->root_path &&
		     strcmp(maps->root_path, "/") != 0 ? maps->root_path : where, (int)pid) < 0) {
		process->path = NULL;
	} else if (root >= 0) {
		why = open_map(maps, process, pid, root);
		if (why)
			tell_unused(process, why);
	}
	if (root >= 0)
		close(root);
}

/* ------------------------------------------------------------------ */
/* Functions								*/

static struct process *find_process(struct jitmaps *maps, const struct event *event)
{
	struct process *process;
	uint32_t number;

	if (event->pid <= 0 ||
	    threads_find(maps->numbers, event->pid, event_process_key(event), &number) < 0 ||
	    number == THREADS_OTHERS)
		return NULL;
	process = &maps->processes[number];
	if (!process->looked)
		look(maps, process, event);
	return process;
}

/* Gets when the process ran its program, as far as that is certain. */
static void get_image(const struct jitmaps *maps, const struct event *event, struct image *image)
{
	if (!images_find(maps->images, event, image))
		*image = (struct image){ .begin = event->time, .end = event->time,
					 .next = UINT64_MAX };
}

/* Checks if the program that recorded the event also wrote the map. Returns NULL, or why not. */
static const char *check_time(const struct jitmaps *maps, const struct process *process,
			      const struct event *event)
{
	struct image image;

	get_image(maps, event, &image);
	if (process->written < image.begin)
		return "last changed before the process ran its program, as far as the log shows";
	if (process->written <= image.end)
		return NULL;
	if (process->written >= image.next)
		return "last changed after the process had left the program";
	if (maps->root >= 0)
		return NULL;
	if (process->runs && process_now_is_same(&process->now, event))
		return NULL;
	return "last changed after the last event of the process (--symfs=/ uses it)";
}

const char *jitmaps_find(struct jitmaps *maps, const struct event *event, uint64_t address,
			 uint64_t *begin, const char **path)
{
	struct process *process = maps->images ? find_process(maps, event) : NULL;
	const char *why, *name;

	if (!process || !process->map)
		return NULL;
	why = maps->complete ? NULL : update(process);
	name = why ? NULL : jitmap_find(process->map, address, begin);
	if (name)
		why = check_time(maps, process, event);
	if (why) {
		tell_unused(process, why);
		return NULL;
	}
	*path = process->path;
	return name;
}
