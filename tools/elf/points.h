/* SPDX-License-Identifier: GPL-2.0 */
/* The trace points of <posixtrace/points.h> in a program or shared library, which need not run. */
#ifndef POSIXTRACE_POINTS_H
#define POSIXTRACE_POINTS_H

#include <stdbool.h>

/* points_are_in() - is the file an ELF file? False also if it cannot be read */
bool points_are_in(const char *path);

/**
 * points_list() - print the trace points of an ELF file
 * @path: path of the file
 *
 * Return: the exit status: 0, or 1 after a failure, which was reported.
 */
int points_list(const char *path);

#endif /* POSIXTRACE_POINTS_H */
