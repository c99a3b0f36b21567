/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the descriptors of the traced processes were at a moment: for a log, when recording started;
 * for a stream, now.
 */
#ifndef POSIXTRACE_OPEN_FILES_H
#define POSIXTRACE_OPEN_FILES_H

#include <posixtrace.h>
#include <stdint.h>

#include "event/source.h"
#include "util/buffer.h"

struct open_files;

/**
 * open_files_read() - read the open files in a log, or of a stream
 * @source: the log or stream
 * @files: where to store them; empty without the classes syscall, strings and process, because only
 *	events of all three tell what becomes of a descriptor
 *
 * Return: 0 or a negative error number.
 */
int open_files_read(struct source *source, struct open_files **files);

/* open_files_read_all() - the same with any classes, for callers that only look rows up */
int open_files_read_all(struct source *source, struct open_files **files);

/**
 * open_files_find() - look up what a descriptor was at a moment
 * @files: all rows
 * @pid: the process
 * @fd: the descriptor
 * @from: time of the state of a thread that uses it
 *
 * Return: the row that was read next after the state; NULL if there is none, or if the thread may
 *	have another table than the process.
 */
const struct posixtrace_open_file *open_files_find(const struct open_files *files, pid_t pid,
						   int fd, uint64_t from);

/* open_files_next() - get the next row that is older than @until, in order of time, or NULL */
const struct posixtrace_open_file *open_files_next(struct open_files *files, uint64_t until);

/**
 * open_files_name() - append what a descriptor is: /etc/passwd, tcp:127.0.0.1:80, eventfd,
 *	or, if only one other process has the other end of a pipe: pipe to 123/cat
 * @files: all rows
 * @row: the row of the descriptor
 * @to: where to append; nothing if it is not known
 */
void open_files_name(struct open_files *files, const struct posixtrace_open_file *row,
		     struct buffer *to);

/* open_files_ns() - get the time of a row */
uint64_t open_files_ns(const struct posixtrace_open_file *row);

/* open_files_free() - free it; may be NULL */
void open_files_free(struct open_files *files);

#endif /* POSIXTRACE_OPEN_FILES_H */
