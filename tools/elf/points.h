/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the trace points of <posixtrace/points.h> from an ELF file without running it. */
#ifndef POSIXTRACE_POINTS_H
#define POSIXTRACE_POINTS_H

#include <stdbool.h>

/* points_are_in() - check if the file is an ELF file; returns false if it cannot be read */
bool points_are_in(const char *path);

/**
 * points_list() - print the trace points of an ELF file
 * @path: path of the file
 *
 * Return: the exit status: 0, or 1 after printing an error.
 */
int points_list(const char *path);

#endif /* POSIXTRACE_POINTS_H */
