/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints the differences between two traces.
 */
#ifndef POSIXTRACE_COMPARE_PRINT_H
#define POSIXTRACE_COMPARE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/measures.h"

/**
 * compare_print() - print a table for each kind of measure that at least one trace has
 * @a: measures of trace A, after measures_end()
 * @b: measures of trace B
 * @by: argument of --by, or NULL
 * @to: where to print
 * @all: print all rows, not only the top ones
 *
 * Return: 0 or -ENOMEM.
 */
int compare_print(const struct measures *a, const struct measures *b, const char *by, FILE *to,
		  bool all);

#endif /* POSIXTRACE_COMPARE_PRINT_H */
