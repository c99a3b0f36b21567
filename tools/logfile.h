/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that becomes a log. One that is there already is not touched before the
 * stream is: a recording that can not begin destroys nothing.
 */
#ifndef POSIXTRACE_LOGFILE_H
#define POSIXTRACE_LOGFILE_H

#include <stdbool.h>

struct logfile {
	const char *path;	/* "-" is the standard output */
	bool force;		/* replace a file that is there */

	int fd;
	char *fresh;		/* what will replace it, or NULL */
	bool made;		/* we have made the file of that path */
};

/*
 * logfile_open() - open or make it; pipes and devices only if @any_kind, for the
 * policies of logs. Returns 0, or an error number when it has complained about it.
 */
int logfile_open(struct logfile *log, bool any_kind);

/*
 * logfile_keep() - it is a log now, and takes the place of the one that is there. If it cannot,
 * it keeps its own name: returns an error number when it has complained about that, else 0.
 */
int logfile_keep(struct logfile *log);

/* logfile_discard() - it did not become one: what we made goes away */
void logfile_discard(struct logfile *log);

/* logfile_close() - no more is written here; the stream has its own descriptor */
void logfile_close(struct logfile *log);

/* logfile_name() - for people */
const char *logfile_name(const struct logfile *log);

/* logfile_size() - in bytes; false if it has none, as a pipe */
bool logfile_size(const struct logfile *log, unsigned long long *size);

#endif /* POSIXTRACE_LOGFILE_H */
