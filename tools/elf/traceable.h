/* SPDX-License-Identifier: GPL-2.0 */
/* Finds out if a program records its own events, without running the program. */
#ifndef POSIXTRACE_TRACEABLE_H
#define POSIXTRACE_TRACEABLE_H

#include <stdbool.h>

/**
 * traceable_program() - check if a program has trace points or is linked with the library
 * @program: name of the program, looked up in PATH like execvp(), or its path
 *
 * Shared libraries that have trace points are not examined. A stripped program that contains the
 * static library and does not use <posixtrace/points.h> is not recognized.
 *
 * Return: true if the program has trace points or is linked with the library; also true if it
 * cannot be examined.
 */
bool traceable_program(const char *program);

#endif /* POSIXTRACE_TRACEABLE_H */
