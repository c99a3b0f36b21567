// SPDX-License-Identifier: MIT
/*
 * Names of threads and processes of an active stream, and their files: read from /proc.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "stream/stream.h"
#include "stream/task.h"

/* The thread may have ended, or /proc may not show it to the caller. */
static int not_known(ssize_t err)
{
	return err == -ENOMEM ? -ENOMEM : -ENOENT;
}

int pxtu_stream_get_task(struct pxtu_source *source, const struct pxtu_task *task, char *name)
{
	char path[64];
	ssize_t len;

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", task->pid, task->tid);
	len = pxtu_read_file(path, name, POSIXTRACE_THREAD_NAME_SIZE);
	if (len <= 0)
		return not_known(len);
	/* The name ends with a newline. */
	name[len - 1] = '\0';
	return 0;
}

/* Threads that had the ids before are not known for an active stream. */
int pxtu_stream_get_life(struct pxtu_source *source, const struct pxtu_task *task,
			 struct pxtu_life *life)
{
	(void)source;
	(void)task;
	(void)life;
	return -ENOENT;
}

int pxtu_stream_get_program(struct pxtu_source *source, const struct pxtu_task *task,
			    struct pxtu_text *text)
{
	char copy[POSIXTRACE_PROGRAM_SIZE], path[32];
	ssize_t len;

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", task->pid);
	len = pxtu_read_file(path, copy, sizeof(copy));
	if (len <= 0)
		return not_known(len);
	copy[len - 1] = '\0';
	text->needed = (size_t)len;
	if (text->needed <= text->room)
		memcpy(text->to, copy, text->needed);
	return 0;
}

/* Parse a line of /proc/PID/maps. Returns true if code at @address was mapped from that file. */
static bool parse_mapping(char *line, __u64 address, struct posixtrace_mapping_info *info)
{
	unsigned long long start, end, offset, inode;
	char mode[5];
	int path = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %llu %n", &start, &end, mode, &offset, &inode,
		   &path) != 5 || address < start || address >= end || mode[2] != 'x' || !inode)
		return false;
	memset(info, 0, sizeof(*info));
	info->address = start;
	info->size = end - start;
	info->offset = offset;
	line += path;
	line[strcspn(line, "\n")] = '\0';
	if (strlen(line) < sizeof(info->path))
		strcpy(info->path, line);
	return true;
}

/* Look for the mapping at @address in a file like /proc/PID/maps. Changes errno. */
static int find_mapping(const char *path, __u64 address, struct posixtrace_mapping_info *info)
{
	char *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;
	int err;

	errno = 0;
	file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) >= 0)
		found = parse_mapping(line, address, info);
	err = found ? 0 : not_known(-errno);
	free(line);
	if (file)
		fclose(file);
	return err;
}

int pxtu_stream_get_mapping(struct pxtu_source *source, const struct pxtu_task *task,
			    __u64 address, struct posixtrace_mapping_info *info)
{
	int err, cancel, saved_errno = errno;
	char path[32];

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/maps", task->pid);
	/* A thread that is cancelled in fopen() or getline() would not put the source. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = find_mapping(path, address, info);
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return err;
}

int pxtu_stream_get_host(struct pxtu_source *source, struct posixtrace_host_info *info)
{
	(void)source;
	pxtu_host(info);
	return 0;
}
