/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints tables of event statistics.
 */
#ifndef POSIXTRACE_STAT_PRINT_H
#define POSIXTRACE_STAT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/stat.h"

/**
 * stats_print() - print the statistics as tables
 * @stats: the statistics, after stats_end()
 * @to: where to print
 * @all: print all threads, not only the busiest
 * @histograms: print histograms of durations
 */
void stats_print(const struct stats *stats, FILE *to, bool all, bool histograms);

#endif /* POSIXTRACE_STAT_PRINT_H */
