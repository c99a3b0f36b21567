/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that becomes a log. An existing file stays until the recording has begun: a recording
 * that cannot begin destroys nothing. Other users can read a new file only if they may: a log has
 * command lines and data of programs.
 */
#ifndef POSIXTRACE_LOGFILE_H
#define POSIXTRACE_LOGFILE_H

#include <stdbool.h>

struct logfile {
	const char *path;	/* "-" is standard output */
	bool force;		/* replace an existing file */
	int mode;		/* of a new file, whatever the umask is; 0: 0600 less the umask */

	int fd;
	char *fresh;		/* path of the file that will replace it, or NULL */
	bool made;		/* logfile_open() created the file at @path */
};

/*
 * logfile_open() - open or create the file. Without @any_kind it must be a regular file, which
 * the log policies loop and until-full need. Returns 0, or an error number after a complaint.
 */
int logfile_open(struct logfile *log, bool any_kind);

/*
 * logfile_keep() - keep the file as a log, and replace an existing file by it. If that fails, the
 * log keeps its temporary name. Returns 0, or an error number after a complaint.
 */
int logfile_keep(struct logfile *log);

/* logfile_discard() - remove the file that logfile_open() created */
void logfile_discard(struct logfile *log);

/* logfile_close() - close the descriptor; the stream has its own */
void logfile_close(struct logfile *log);

/* logfile_name() - the name to print */
const char *logfile_name(const struct logfile *log);

/* logfile_size() - get the size in bytes; false if the file has no size, as a pipe */
bool logfile_size(const struct logfile *log, unsigned long long *size);

#endif /* POSIXTRACE_LOGFILE_H */
