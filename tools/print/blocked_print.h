/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints the threads that are still blocked at the end of a trace: since when, in which system
 * call, and who holds the lock for which they wait.
 */
#ifndef POSIXTRACE_BLOCKED_PRINT_H
#define POSIXTRACE_BLOCKED_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/open_files.h"
#include "analyze/states.h"

/**
 * blocked_print() - print the table, if there are such threads
 * @states: after states_end()
 * @source: the log or stream
 * @now: states of the threads of a stream after the last event; NULL for a log
 * @files: descriptors at the start of a log, or of a stream after @now; or NULL
 * @to: where to print
 * @all: print all rows
 */
void blocked_print(const struct states *states, struct source *source, const struct snapshot *now,
		   struct open_files *files, FILE *to, bool all);

#endif /* POSIXTRACE_BLOCKED_PRINT_H */
