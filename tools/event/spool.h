/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files with logs. What comes through a pipe or is compressed is copied to a temporary file
 * without a name, because logs are not read in one direction only.
 */
#ifndef POSIXTRACE_SPOOL_H
#define POSIXTRACE_SPOOL_H

#include <stdbool.h>

/* spool_path() - get the path from an operand: "-" is standard input */
const char *spool_path(const char *operand);

/* spool_is_stdin() - check if a path from spool_path() is standard input */
bool spool_is_stdin(const char *path);

/* spool_is_packed() - check if a file begins as a compressed one */
bool spool_is_packed(int fd);

/**
 * spool_open() - open a file with a log
 * @path: path of a file or FIFO, which may be compressed, from spool_path()
 * @copied: where to store if the result is a copy
 *
 * Reads a pipe to its end. A copy leaves a twentieth of its file system free.
 *
 * Return: the descriptor of a regular file, or a negative error number; -ECANCELED after printing
 *	an error.
 */
int spool_open(const char *path, bool *copied);

#endif /* POSIXTRACE_SPOOL_H */
