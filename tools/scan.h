/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who has the device open: what /proc tells the caller of it.
 */
#ifndef POSIXTRACE_SCAN_H
#define POSIXTRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A process that can record events: it has opened an event type, or recorded. */
struct scan_program {
	pid_t pid;
	unsigned int types;	/* with a name of their own */
};

struct scan_stream {
	unsigned long long number;
	pid_t controller;
	bool log;
	char state[16];
	char *name;		/* escaped */
	char *processes;	/* ids with blanks between */
};

struct scan {
	struct scan_program *programs;
	size_t nr_programs;
	struct scan_stream *streams;
	size_t nr_streams;
	bool incomplete;	/* there are processes that the caller may not look into */
};

/* scan() - look. Returns 0 or an error number; scan_free() comes after it either way. */
int scan(struct scan *scan);

void scan_free(struct scan *scan);

/* scan_traces() - does the stream trace that process? */
bool scan_traces(const struct scan_stream *stream, pid_t pid);

#endif /* POSIXTRACE_SCAN_H */
