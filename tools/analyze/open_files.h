/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the descriptors of the traced processes referred to: in a log, when recording started; in a
 * stream, now.
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
 * @files: where to store them; empty unless the classes syscall, strings and process are all
 *	recorded, because later changes of descriptors are unknown otherwise
 *
 * Return: 0 or a negative error number.
 */
int open_files_read(struct source *source, struct open_files **files);

/* open_files_read_all() - as open_files_read(), but with any classes: for mere look-ups */
int open_files_read_all(struct source *source, struct open_files **files);

/**
 * open_files_find() - look up what a descriptor referred to at a given time
 * @files: all rows
 * @pid: the process
 * @fd: the descriptor
 * @from: time at which the state of a thread that uses the descriptor was read
 *
 * Return: the first row of the descriptor that was read after that state. NULL if there is none, or
 * if the thread may have a different table than its process.
 */
const struct posixtrace_open_file *open_files_find(const struct open_files *files, pid_t pid,
						   int fd, uint64_t from);

/* open_files_next() - get the next row, in order of time, that is older than @until; or NULL */
const struct posixtrace_open_file *open_files_next(struct open_files *files, uint64_t until);

/**
 * open_files_name() - append a description of what a descriptor refers to
 * @files: all rows
 * @row: the row of the descriptor
 * @to: where to append; unchanged if the file is unknown
 *
 * Examples: /etc/passwd, tcp:127.0.0.1:80, eventfd. For a pipe whose other end is open in exactly
 * one other process: pipe to 123/cat.
 */
void open_files_name(struct open_files *files, const struct posixtrace_open_file *row,
		     struct buffer *to);

/* open_files_ns() - get the time of a row */
uint64_t open_files_ns(const struct posixtrace_open_file *row);

/* open_files_free() - free it; may be NULL */
void open_files_free(struct open_files *files);

#endif /* POSIXTRACE_OPEN_FILES_H */
