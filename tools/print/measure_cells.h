/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table cells of measures: names, values and times.
 */
#ifndef POSIXTRACE_MEASURE_CELLS_H
#define POSIXTRACE_MEASURE_CELLS_H

#include <stdio.h>

#include "analyze/measure.h"
#include "util/buffer.h"

#define MEASURE_NAME_WIDTH	28

/**
 * struct measure_columns - the first columns of a table
 * @by: argument of --by, or NULL
 * @name: width of the names
 * @value: width of the values
 */
struct measure_columns {
	const char *by;
	size_t name;
	size_t value;
};

/* measure_columns_begin() - set each width to the width of its heading */
void measure_columns_begin(struct measure_columns *columns, const char *by);

/* measure_columns_widen() - widen the columns for the name and value of a measure */
void measure_columns_widen(struct measure_columns *columns, const struct measure *measure);

/* measure_columns_head() - print the headings of these columns; @name: heading of the first one */
void measure_columns_head(const struct measure_columns *columns, const char *name, FILE *to);

/* measure_columns_print() - print the name and value of a measure; NULL: print blanks */
void measure_columns_print(const struct measure_columns *columns, const struct measure *measure,
			   FILE *to);

/* measure_time() - print a time, or "-" if there are no times */
void measure_time(FILE *to, const struct histogram *times, uint64_t ns);

/* measure_percentile() - print a percentile, or "-" if there are no times */
void measure_percentile(FILE *to, const struct histogram *times, unsigned int percent);

/* measure_mean() - get the mean of times, rounded down; 0 if there are none */
uint64_t measure_mean(const struct histogram *times);

/* measure_times() - print the total, mean, p50, p99 and maximum */
void measure_times(FILE *to, const struct histogram *times);

#define MEASURE_TIMES	"     TOTAL      MEAN       p50       p99       max"

#endif /* POSIXTRACE_MEASURE_CELLS_H */
