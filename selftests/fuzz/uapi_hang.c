// SPDX-License-Identifier: GPL-2.0
/* Shows what hanging processes are doing, and kills them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uapi_fuzz.h"
#include "uapi_hang.h"

/* Looks for a text in a file. Prints the file if @show. */
static bool look_into(const char *path, const char *text, bool show)
{
	FILE *file = fopen(path, "re");
	bool found = false;
	char line[256];

	if (!file)
		return false;
	if (show)
		printf("# %s:\n", path);
	while (fgets(line, sizeof(line), file)) {
		if (show)
			printf("#   %s", line);
		if (strstr(line, text))
			found = true;
	}
	fclose(file);
	return found;
}

/* Looks for a text in the kernel stacks of all threads of a process. */
static bool look_into_stacks(pid_t pid, const char *text, bool show)
{
	bool found = false;
	struct dirent *entry;
	char path[300];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stack", pid, entry->d_name);
		found |= look_into(path, text, show);
	}
	closedir(dir);
	fflush(stdout);
	return found;
}

/* Shows the kernel stack of each thread. Returns true if a thread is in the module. */
bool show_stacks(pid_t pid)
{
	return look_into_stacks(pid, "[posixtrace]", true);
}

/* Returns true if the process waits until its log is written. That may last until it is killed. */
bool waits_for_log(pid_t pid)
{
	return look_into_stacks(pid, "pxt_log_wait", false);
}

/* Calls @each for all processes of this session except this one. */
static void for_session(void (*each)(pid_t pid, void *arg), void *arg)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	pid_t pid;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && pid != getpid() && pid != getppid() && getsid(pid) == getsid(0))
			each(pid, arg);
	}
	closedir(dir);
}

static void show_one(pid_t pid, void *arg)
{
	(void)arg;
	show_stacks(pid);
}

void show_session(void)
{
	for_session(show_one, NULL);
}

static void kill_one(pid_t pid, void *arg)
{
	(void)arg;
	kill(pid, SIGKILL);
}

void kill_session(void)
{
	for_session(kill_one, NULL);
}

struct orphans {
	const struct worker *workers;
	unsigned int nr;
};

static void kill_orphan(pid_t pid, void *arg)
{
	const struct orphans *orphans = arg;
	unsigned int i;

	for (i = 0; i < orphans->nr; i++)
		if (orphans->workers[i].pid == pid)
			return;
	kill(pid, SIGKILL);
}

/* Kills the processes of this session that are not workers. */
void kill_orphans(const struct worker *workers, unsigned int nr)
{
	struct orphans orphans = { workers, nr };

	for_session(kill_orphan, &orphans);
}

static bool is_log_thread(const char *pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strncmp(name, "posixtrace/", 11);
}

/* Returns the number of log threads of the module. */
unsigned int count_log_threads(bool show)
{
	unsigned int count = 0;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (atoi(entry->d_name) <= 0 || !is_log_thread(entry->d_name))
			continue;
		count++;
		if (show)
			show_stacks(atoi(entry->d_name));
	}
	closedir(dir);
	return count;
}
