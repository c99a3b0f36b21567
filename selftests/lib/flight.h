/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs flight_helper, which can be its own flight recorder, in a directory for its logs.
 */
#ifndef _SELFTESTS_FLIGHT_H
#define _SELFTESTS_FLIGHT_H

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "withlog.h"

#define FLIGHT_HELPER		"./flight_helper"
#define FLIGHT_EVENTS		20000

#define FLIGHT_OUT_MAX		4096

/**
 * struct flight - a run of the helper
 * @dir: directory for its logs
 * @program: path; by default the helper
 * @pattern: value of POSIXTRACE_RECORD; @dir is put before a name without a slash; NULL: not set
 * @options: value of POSIXTRACE_RECORD_OPTIONS, or NULL
 * @prepare: called in the child before exec; must exit if it fails
 * @pid: result: its process id
 * @status: result: its wait status
 * @out: result: what it wrote to standard output and standard error
 */
struct flight {
	char dir[32];
	const char *program;
	const char *pattern;
	const char *options;
	void (*prepare)(void);
	pid_t pid;
	int status;
	char out[FLIGHT_OUT_MAX];
};

/* Makes a directory that all users may write to. Returns 0 or minus an error number. */
static inline int flight_begin(struct flight *flight)
{
	*flight = (struct flight){ .program = FLIGHT_HELPER };
	strcpy(flight->dir, "/tmp/flight.XXXXXX");
	return mkdtemp(flight->dir) && !chmod(flight->dir, 0777) ? 0 : -errno;
}

/* Counts the files in the directory, and removes them if @removes is set. */
static inline int flight_files(const struct flight *flight, bool removes)
{
	DIR *dir = opendir(flight->dir);
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (removes)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (!dir)
		return -1;
	closedir(dir);
	return count;
}

static inline void flight_end(struct flight *flight)
{
	flight_files(flight, true);
	rmdir(flight->dir);
}

static inline void flight_execute(const struct flight *flight, const char *action, int out)
{
	char pattern[2 * PATH_MAX];
	const bool is_path = flight->pattern && (strchr(flight->pattern, '/') || !*flight->pattern);

	unsetenv("POSIXTRACE_RECORD");
	unsetenv("POSIXTRACE_RECORD_OPTIONS");
	if (flight->pattern) {
		snprintf(pattern, sizeof(pattern), "%s%s%s", is_path ? "" : flight->dir,
			 is_path ? "" : "/", flight->pattern);
		setenv("POSIXTRACE_RECORD", pattern, 1);
	}
	if (flight->options)
		setenv("POSIXTRACE_RECORD_OPTIONS", flight->options, 1);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	/* Let the first descriptor that the program opens be 3. */
	syscall(SYS_close_range, 3U, ~0U, 0U);
	if (flight->prepare)
		flight->prepare();
	execl(flight->program, flight->program, action, (char *)NULL);
	_exit(101);
}

/* Runs the helper to its end. Returns 0 or minus an error number. */
static inline int flight_run(struct flight *flight, const char *action)
{
	int out = log_tmpfile();
	ssize_t n;

	if (out < 0)
		return -errno;
	flight->pid = fork();
	if (!flight->pid)
		flight_execute(flight, action, out);
	if (flight->pid < 0 || waitpid(flight->pid, &flight->status, 0) != flight->pid) {
		close(out);
		return -errno;
	}
	n = pread(out, flight->out, sizeof(flight->out) - 1, 0);
	flight->out[n < 0 ? 0 : n] = '\0';
	close(out);
	return 0;
}

/* Opens a log of the process @pid: .log, .1.log and so on. Returns a descriptor, or -1. */
static inline int flight_open(const struct flight *flight, pid_t pid, unsigned int number)
{
	char path[128];

	if (number)
		snprintf(path, sizeof(path), "%s/%d.%u.log", flight->dir, (int)pid, number);
	else
		snprintf(path, sizeof(path), "%s/%d.log", flight->dir, (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads a log of the run. content.err is ENOENT if the log does not exist. */
static inline void flight_read(const struct flight *flight, pid_t pid, unsigned int number,
			       struct log_content *content)
{
	int fd = flight_open(flight, pid, number);

	if (fd < 0) {
		*content = (struct log_content){ .err = errno };
		return;
	}
	log_content_fd(fd, content);
	close(fd);
}

#endif /* _SELFTESTS_FLIGHT_H */
