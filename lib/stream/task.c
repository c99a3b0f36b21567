// SPDX-License-Identifier: MIT
/*
 * Names of threads and processes of an active stream, and their files: read from /proc, which may
 * show other processes under the same ids.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/host.h"
#include "common/sys.h"
#include "stream/stream.h"
#include "stream/task.h"

/* The thread may have ended, or /proc may not show it to the caller. */
static int not_known(ssize_t err)
{
	return err == -ENOMEM ? -ENOMEM : -ENOENT;
}

/* Does /proc show the ids of our pid namespace? If not, the line NSpid has several ids. */
static bool has_our_ids(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	bool found = false, ours = false;
	char *line = NULL;
	size_t room = 0;
	int more;

	while (file && !found && getline(&line, &room, file) >= 0) {
		found = !strncmp(line, "NSpid:", 6);
		/* Kernels without pid namespaces have no NSpid. */
		ours = !found || sscanf(line, "NSpid: %*d %d", &more) != 1;
	}
	free(line);
	if (file)
		fclose(file);
	return ours;
}

static long long clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * (long long)PXTU_NSEC_PER_SEC + now.tv_nsec;
}

/* Number of the field in /proc/PID/stat; the name, which ends with ")", is the second. */
#define START_TIME	22

/* Was the thread that now has the ids born before the time of @task? /proc rounds births down. */
static bool is_as_old(const struct pxtu_task *task, pid_t tid)
{
	long long born = clock_of(CLOCK_REALTIME) - clock_of(CLOCK_BOOTTIME);
	char path[64], line[512], *field;
	unsigned long long ticks;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", task->pid, tid);
	len = pxtu_read_file(path, line, sizeof(line) - 1);
	line[len > 0 ? len : 0] = '\0';
	/* The name may contain parentheses. */
	field = strrchr(line, ')');
	for (int number = 3; field && number <= START_TIME; number++)
		field = strchr(field + 1, ' ');
	if (!field)
		return false;
	ticks = strtoull(field, NULL, 10);
	born += (long long)(ticks * (PXTU_NSEC_PER_SEC / (__u64)sysconf(_SC_CLK_TCK)));
	return born < 0 || (__u64)born <= task->time;
}

/*
 * Check that /proc has shown the thread of the event, and not a later one with the same ids. If
 * @tid is the process id, this checks the process. Call this after reading, because the ids may be
 * reused at any time. Returns 0 or -ENOENT.
 */
static int check_task(const struct pxtu_task *task, pid_t tid)
{
	int cancel, saved_errno = errno;
	bool is_it;

	/* A thread that is cancelled in fopen() or getline() would not put the source. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	is_it = has_our_ids() && is_as_old(task, tid);
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return is_it ? 0 : -ENOENT;
}

int pxtu_stream_get_task(struct pxtu_source *source, const struct pxtu_task *task, char *name)
{
	char path[64], read[POSIXTRACE_THREAD_NAME_SIZE];
	ssize_t len;
	int err;

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", task->pid, task->tid);
	len = pxtu_read_file(path, read, sizeof(read));
	if (len <= 0)
		return not_known(len);
	err = check_task(task, task->tid);
	if (err)
		return err;
	/* The name ends with a newline. */
	read[len - 1] = '\0';
	memcpy(name, read, (size_t)len);
	return 0;
}

/* The ids may have belonged to earlier threads, and an active stream does not know these. */
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
	int err;

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", task->pid);
	len = pxtu_read_file(path, copy, sizeof(copy));
	if (len <= 0)
		return not_known(len);
	err = check_task(task, task->pid);
	if (err)
		return err;
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
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = find_mapping(path, address, info);
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return err ? err : check_task(task, task->pid);
}

int pxtu_stream_get_host(struct pxtu_source *source, struct posixtrace_host_info *info)
{
	(void)source;
	pxtu_host(info);
	return 0;
}
