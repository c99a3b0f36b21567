// SPDX-License-Identifier: GPL-2.0
/*
 * A process of a log that still runs: see process_now.h. It may end at any time. Reads from its
 * /proc directory, which is kept open, then fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/process_now.h"

#define START_FIELD	22		/* field of /proc/PID/stat, counted from 1 */
#define NS_NEAR		30000000ULL	/* /proc rounds the start to a tick: 10 ms */
/*
 * Below this address, a program without address space randomization has the same files at each
 * exec.
 */
#define RANDOM_FROM	(1ULL << 32)

static FILE *open_in(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Was the log recorded since the last boot of this machine? */
static bool is_this_boot(const struct posixtrace_host_info *host)
{
	FILE *file = open_in(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	char line[64], digits[2 * sizeof(host->boot_id) + 1] = "", hex[sizeof(digits)];
	size_t len = 0;

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	for (const char *at = line; *at && *at != '\n' && len < sizeof(digits) - 1; at++) {
		if (*at != '-')
			digits[len++] = *at;
	}
	for (size_t i = 0; i < sizeof(host->boot_id); i++)
		sprintf(hex + 2 * i, "%02x", host->boot_id[i]);
	return !strcmp(digits, hex);
}

/* Gets the start time of a process in ns since boot. */
static bool read_start(int proc, uint64_t *start)
{
	FILE *file = open_in(proc, "stat");
	char line[1024], *at = NULL;
	long ticks = sysconf(_SC_CLK_TCK);

	if (!file)
		return false;
	/* The second field is in parentheses, and may contain any bytes. */
	if (fgets(line, sizeof(line), file))
		at = strrchr(line, ')');
	fclose(file);
	for (int field = 2; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at || ticks <= 0)
		return false;
	*start = strtoull(at + 1, NULL, 10) * (NSEC_PER_SEC / (uint64_t)ticks);
	return true;
}

/* Was the process born at this time? */
static bool is_born(int proc, const struct posixtrace_host_info *host, uint64_t born)
{
	uint64_t wanted = born - (uint64_t)host->realtime_offset + (uint64_t)host->boottime_offset;
	uint64_t start;

	return read_start(proc, &start) &&
	       (start > wanted ? start - wanted : wanted - start) < NS_NEAR;
}

/* Gets the id of the process in the innermost of its PID namespaces. */
static bool read_pid(struct process_now *now)
{
	FILE *file = open_in(now->proc, "status");
	char line[1024], *at;
	unsigned int count = 0;

	if (!file)
		return false;
	while (!count && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NStgid:", 7) != 0)
			continue;
		for (at = strtok(line + 7, "\t\n"); at; at = strtok(NULL, "\t\n")) {
			now->pid = (pid_t)strtol(at, NULL, 10);
			count++;
		}
	}
	fclose(file);
	now->nested = count > 1;
	return count;
}

bool process_now_has_boot(const struct source *source)
{
	struct posixtrace_host_info host;

	for (size_t i = 0; i < source_logs(source); i++) {
		if (!posixtrace_get_host(source_log_trid(source, i), &host) && is_this_boot(&host))
			return true;
	}
	return false;
}

bool process_now_find(const struct event *event, struct process_now *now)
{
	struct posixtrace_host_info host;
	struct stat stat_of;
	char path[32];
	uint64_t born;

	if (!source_is_log(event->source) || source_get_host_of(event->source, event, &host) ||
	    !is_this_boot(&host) || !source_get_birth(event->source, event, &born))
		return false;
	snprintf(path, sizeof(path), "/proc/%d", (int)source_plain_id(event->source, event->pid));
	*now = (struct process_now){ .proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (now->proc < 0)
		return false;
	if (fstat(now->proc, &stat_of) || !is_born(now->proc, &host, born) || !read_pid(now)) {
		close(now->proc);
		return false;
	}
	now->uid = stat_of.st_uid;
	now->root = openat(now->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return true;
}

/* Removes the suffix that the kernel appends to the name of a deleted file. */
static void clean_path(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strcspn(path, "\n");

	path[len] = '\0';
	if (len > strlen(deleted) && !strcmp(path + len - strlen(deleted), deleted))
		path[len - strlen(deleted)] = '\0';
}

bool process_now_is_same(const struct process_now *now, const struct event *event)
{
	FILE *file = open_in(now->proc, "maps");
	struct posixtrace_mapping_info info;
	uint64_t begin;
	bool differs = false, same = false;
	char *line = NULL, kind;
	size_t room = 0;
	int at;

	while (file && !differs && getline(&line, &room, file) > 0) {
		at = 0;
		if (sscanf(line, "%" SCNx64 "-%*x %*c%*c%c%*c %*s %*s %*s %n", &begin, &kind,
			   &at) != 2 ||
		    kind != 'x' || !at || line[at] != '/' ||
		    !source_get_mapping(event->source, event, begin, &info))
			continue;
		clean_path(line + at);
		clean_path(info.path);
		differs = strcmp(line + at, info.path) != 0;
		same |= begin >= RANDOM_FROM;
	}
	free(line);
	if (file)
		fclose(file);
	return same && !differs;
}

void process_now_close(struct process_now *now)
{
	close(now->proc);
	if (now->root >= 0)
		close(now->root);
}
