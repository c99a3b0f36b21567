/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log file. An existing file is replaced only after recording has begun, so a failed start does
 * not destroy it. By default, only the user can access a new file, because a log contains command
 * lines and data of programs.
 */
#ifndef POSIXTRACE_LOGFILE_H
#define POSIXTRACE_LOGFILE_H

#include <stdbool.h>

struct logfile {
	const char *path;	/* "-" means standard output */
	bool force;		/* replace an existing file */
	bool no_force;		/* the command has no --force: messages do not recommend it */
	const char *advice;	/* what to do if the file is not regular; NULL: another --output */
	int mode;		/* mode of a new file, regardless of umask; 0: 0600 & ~umask */

	int fd;
	char *fresh;		/* path of the replacement, or NULL */
	bool made;		/* logfile_open() created the file at @path */
};

/*
 * logfile_open() - open or create the file. If not @any_kind, it must be a regular file, as the log
 * policies loop and until-full require; other existing files are then not opened. Returns 0, or an
 * error number after printing an error.
 */
int logfile_open(struct logfile *log, bool any_kind);

/*
 * logfile_keep() - keep the file as the log, replacing an existing file. If that fails, the log
 * keeps its temporary name. Returns 0, or an error number after printing an error.
 */
int logfile_keep(struct logfile *log);

/* logfile_discard() - remove the file that logfile_open() created */
void logfile_discard(struct logfile *log);

/*
 * logfile_remove() - remove the log, unless the name has another file by now. Prints an error.
 */
void logfile_remove(const struct logfile *log);

/* logfile_close() - close the descriptor; the stream keeps its own reference to the file */
void logfile_close(struct logfile *log);

/* logfile_refuse() - report that the file @path exists and would be replaced */
void logfile_refuse(const struct logfile *log, const char *path);

/* logfile_name() - get the name of the log for messages */
const char *logfile_name(const struct logfile *log);

/* logfile_size() - get the size in bytes; returns false if the file has no size, such as a pipe */
bool logfile_size(const struct logfile *log, unsigned long long *size);

#endif /* POSIXTRACE_LOGFILE_H */
