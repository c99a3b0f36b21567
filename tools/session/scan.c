// SPDX-License-Identifier: GPL-2.0
/*
 * Finds programs and streams by reading /proc/PID/maps and /proc/PID/fdinfo of all processes.
 * Ignores processes that end, and files that are closed, during the scan.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/scan.h"

/* An open file of the device. */
struct info {
	char role[16];
	long pid;
	unsigned int types;
	struct scan_stream stream;
};

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static char *copy(const char *value)
{
	char *text = strdup(value);

	/* Replace the tabs that separate the process ids. */
	for (char *c = text; c && *c; c++) {
		if (*c == '\t')
			*c = ' ';
	}
	return text;
}

static int parse_value(struct info *info, const char *key, const char *value)
{
	struct scan_stream *stream = &info->stream;

	if (!strcmp(key, "role"))
		snprintf(info->role, sizeof(info->role), "%s", value);
	else if (!strcmp(key, "pid"))
		info->pid = strtol(value, NULL, 10);
	else if (!strcmp(key, "types"))
		info->types = strtoul(value, NULL, 10);
	else if (!strcmp(key, "stream"))
		stream->number = strtoull(value, NULL, 10);
	else if (!strcmp(key, "state"))
		snprintf(stream->state, sizeof(stream->state), "%s", value);
	else if (!strcmp(key, "log"))
		stream->log = *value == '1';
	else if (!strcmp(key, "processes") && !stream->processes)
		return (stream->processes = copy(value)) ? 0 : ENOMEM;
	else if (!strcmp(key, "name") && !stream->name)
		return (stream->name = copy(value)) ? 0 : ENOMEM;
	return 0;
}

/* Parses "posixtrace-KEY:", a tab and the value. Ignores other keys. */
static int parse_line(struct info *info, char *line)
{
	static const char prefix[] = "posixtrace-";
	char *value = strchr(line, ':');

	if (!value || strncmp(line, prefix, strlen(prefix)))
		return 0;
	*value++ = '\0';
	return parse_value(info, line + strlen(prefix), value + strspn(value, "\t"));
}

static int read_info(int dir, const char *fd, struct info *info)
{
	int file = openat(dir, fd, O_RDONLY | O_CLOEXEC), err = 0;
	FILE *stream = file < 0 ? NULL : fdopen(file, "r");
	char *line = NULL;
	size_t size = 0;

	if (!stream) {
		if (file >= 0)
			close(file);
		return 0;
	}
	while (!err && getline(&line, &size, stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		err = parse_line(info, line);
	}
	free(line);
	fclose(stream);
	return err;
}

/* @types: number of event types; -1: unknown. */
static int add_program(struct scan *scan, long pid, int types)
{
	struct scan_program *more;

	for (size_t i = 0; i < scan->nr_programs; i++) {
		if (scan->programs[i].pid != pid)
			continue;
		if (types >= 0)
			scan->programs[i].types = types;
		return 0;
	}
	more = reallocarray(scan->programs, scan->nr_programs + 1, sizeof(*more));
	if (!more)
		return ENOMEM;
	scan->programs = more;
	more[scan->nr_programs++] = (struct scan_program){ pid, types };
	return 0;
}

/* Adds a stream. Takes ownership of the name and the process list in @info. */
static int add_stream(struct scan *scan, struct info *info)
{
	struct scan_stream *more, *stream = &info->stream;

	if (!stream->name || !stream->processes)
		return 0;
	for (size_t i = 0; i < scan->nr_streams; i++) {
		if (scan->streams[i].number == stream->number)
			return 0;
	}
	more = reallocarray(scan->streams, scan->nr_streams + 1, sizeof(*more));
	if (!more)
		return ENOMEM;
	scan->streams = more;
	stream->controller = info->pid;
	more[scan->nr_streams++] = *stream;
	stream->name = NULL;
	stream->processes = NULL;
	return 0;
}

static int look_at_file(struct scan *scan, int infos, const char *fd, long pid)
{
	struct info info = { };
	int err = read_info(infos, fd, &info);

	/* Skip descriptors that a child has inherited: info.pid has opened the file. */
	if (!err && info.pid == pid && !strcmp(info.role, "target"))
		err = add_program(scan, pid, (int)info.types);
	else if (!err && info.pid == pid && !strcmp(info.role, "stream") &&
		 strcmp(info.stream.state, "ended"))
		err = add_stream(scan, &info);
	free(info.stream.name);
	free(info.stream.processes);
	return err;
}

/* Is the descriptor a link to the device? Reading the link is much faster than reading fdinfo. */
static bool is_device(int links, const char *fd)
{
	char target[64];
	ssize_t len = readlinkat(links, fd, target, sizeof(target) - 1);

	if (len <= 0)
		return false;
	target[len] = '\0';
	return strstr(target, "/posixtrace");
}

/* Does the mapping begin at offset 0? The gate is there, and streams have larger offsets. */
static bool is_gate(const char *line)
{
	unsigned long long offset;

	return strstr(line, " /dev/posixtrace") && sscanf(line, "%*s %*s %llx", &offset) == 1 &&
	       !offset;
}

/*
 * Does the process map the gate? A program linked with the library has no descriptor of the device.
 */
static bool maps_gate(int proc, const char *pid)
{
	char path[32], *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *maps;
	int fd;

	snprintf(path, sizeof(path), "%.16s/maps", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	maps = fd < 0 ? NULL : fdopen(fd, "r");
	while (maps && !found && getline(&line, &size, maps) > 0)
		found = is_gate(line);
	free(line);
	if (maps)
		fclose(maps);
	else if (fd >= 0)
		close(fd);
	return found;
}

static int look_at_process(struct scan *scan, int proc, const char *pid)
{
	struct dirent *entry;
	char path[32];
	int infos, err = 0;
	DIR *links;

	snprintf(path, sizeof(path), "%.16s/fdinfo", pid);
	infos = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%.16s/fd", pid);
	links = infos < 0 ? NULL : fdopendir(openat(proc, path, O_RDONLY | O_CLOEXEC));
	if (!links) {
		scan->incomplete |= errno == EACCES || errno == EPERM;
		if (infos >= 0)
			close(infos);
		return 0;
	}
	if (maps_gate(proc, pid))
		err = add_program(scan, strtol(pid, NULL, 10), -1);
	while (!err && (entry = readdir(links))) {
		if (is_number(entry->d_name) && is_device(dirfd(links), entry->d_name))
			err = look_at_file(scan, infos, entry->d_name, strtol(pid, NULL, 10));
	}
	closedir(links);
	close(infos);
	return err;
}

int scan(struct scan *scan)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int err = 0;

	memset(scan, 0, sizeof(*scan));
	if (!proc)
		return errno;
	while (!err && (entry = readdir(proc))) {
		if (is_number(entry->d_name))
			err = look_at_process(scan, dirfd(proc), entry->d_name);
	}
	closedir(proc);
	return err;
}

void scan_free(struct scan *scan)
{
	for (size_t i = 0; i < scan->nr_streams; i++) {
		free(scan->streams[i].name);
		free(scan->streams[i].processes);
	}
	free(scan->streams);
	free(scan->programs);
}

bool scan_traces(const struct scan_stream *stream, pid_t pid)
{
	const char *text = stream->processes;
	char *end;

	while (*text) {
		if (strtol(text, &end, 10) == pid)
			return true;
		if (end == text)
			break;
		text = end;
	}
	return false;
}
