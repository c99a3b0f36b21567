/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints tables of what the threads of a trace did.
 */
#ifndef POSIXTRACE_STATES_PRINT_H
#define POSIXTRACE_STATES_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/states.h"
#include "event/source.h"

/**
 * states_print() - print the results as tables
 * @states: from states_new(), after states_end()
 * @source: source of the events, for thread names, or NULL
 * @to: where to print
 * @all: print all threads and places, not only the top ones
 */
void states_print(const struct states *states, struct source *source, FILE *to, bool all);

#endif /* POSIXTRACE_STATES_PRINT_H */
