/* SPDX-License-Identifier: GPL-2.0 */
/* Finds out, without running a program, whether it records its own events. */
#ifndef POSIXTRACE_TRACEABLE_H
#define POSIXTRACE_TRACEABLE_H

#include <stdbool.h>

/**
 * traceable_program() - check if a program has trace points or is linked with the library
 * @program: its name, looked up in PATH as execvp() does, or its path
 *
 * Shared libraries that have trace points are not examined. A stripped program that contains the
 * static library and does not use <posixtrace/points.h> is not recognized.
 *
 * Return: true if so; also true if @program is not a program that can be examined.
 */
bool traceable_program(const char *program);

#endif /* POSIXTRACE_TRACEABLE_H */
