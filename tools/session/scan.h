/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the processes that have the device open or mapped, as far as the caller may read /proc.
 */
#ifndef POSIXTRACE_SCAN_H
#define POSIXTRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A process that can record events because it is linked with the library. */
struct scan_program {
	pid_t pid;
	int types;		/* number of its named event types; -1: unknown */
};

struct scan_stream {
	unsigned long long number;
	pid_t controller;
	bool log;
	char state[16];
	char *name;		/* name of the stream, escaped */
	char *processes;	/* process ids, separated by spaces */
};

struct scan {
	struct scan_program *programs;
	size_t nr_programs;
	struct scan_stream *streams;
	size_t nr_streams;
	bool incomplete;	/* the caller may not inspect all processes */
};

/* scan() - fill @scan; returns 0 or an error number. Call scan_free() in either case. */
int scan(struct scan *scan);

void scan_free(struct scan *scan);

/* scan_traces() - check if the stream traces the process */
bool scan_traces(const struct scan_stream *stream, pid_t pid);

#endif /* POSIXTRACE_SCAN_H */
