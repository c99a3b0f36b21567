/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints tables of measures.
 */
#ifndef POSIXTRACE_MEASURES_PRINT_H
#define POSIXTRACE_MEASURES_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/measures.h"

/**
 * measures_print() - print a table for each kind of measure that has rows
 * @measures: the measures, after measures_end()
 * @by: argument of --by, or NULL
 * @to: where to print
 * @all: print all rows, not only the top ones
 */
void measures_print(const struct measures *measures, const char *by, FILE *to, bool all);

#endif /* POSIXTRACE_MEASURES_PRINT_H */
