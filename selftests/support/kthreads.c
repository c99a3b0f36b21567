// SPDX-License-Identifier: GPL-2.0
/* Finds kernel threads, and reads their processor time. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kthreads.h"

int kthread_find(const char *kind, pid_t pids[KTHREADS_MAX])
{
	DIR *proc = opendir("/proc");
	char path[300], name[32];
	struct dirent *entry;
	int count = 0;
	FILE *file;

	while (proc && count < KTHREADS_MAX && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = atoi(entry->d_name) ? fopen(path, "re") : NULL;
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strncmp(name, kind, strlen(kind)))
			pids[count++] = atoi(entry->d_name);
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return count;
}

unsigned long long kthread_time(const char *kind)
{
	unsigned long long sum = 0, ns;
	pid_t pids[KTHREADS_MAX];
	int count = kthread_find(kind, pids);
	char path[64];
	FILE *file;

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/proc/%d/schedstat", pids[i]);
		file = fopen(path, "re");
		if (file && fscanf(file, "%llu", &ns) == 1)
			sum += ns;
		if (file)
			fclose(file);
	}
	return sum;
}
