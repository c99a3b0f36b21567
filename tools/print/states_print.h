/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the threads of a trace did, as tables.
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
 * @source: where the events came from, for the names of threads; NULL without
 * @to: where to print
 * @all: print all threads and places, not only the first
 */
void states_print(const struct states *states, struct source *source, FILE *to, bool all);

#endif /* POSIXTRACE_STATES_PRINT_H */
