/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files that contain logs. If the log comes through a pipe or is compressed, it is copied to
 * a temporary file without a name, because reading a log requires seeking.
 */
#ifndef POSIXTRACE_SPOOL_H
#define POSIXTRACE_SPOOL_H

#include <stdbool.h>

/* spool_path() - get the path from an operand: "-" is standard input */
const char *spool_path(const char *operand);

/* spool_is_stdin() - check if a path from spool_path() is standard input */
bool spool_is_stdin(const char *path);

/* spool_is_packed() - check if a file begins like a compressed file */
bool spool_is_packed(int fd);

/**
 * spool_open() - open a file with a log
 * @path: path of a file or FIFO, which may be compressed, from spool_path()
 * @copied: where to store if the result is a copy
 *
 * Reads a pipe to its end. Copying fails if it would leave less than 1/20 of the file system free.
 *
 * Return: the descriptor of a regular file, or a negative error number; -ECANCELED after printing
 *	an error.
 */
int spool_open(const char *path, bool *copied);

#endif /* POSIXTRACE_SPOOL_H */
