/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of durations. Its memory does not grow with the number of values.
 *
 * Each power of two has 32 equal buckets, so percentiles are accurate to 1.6 % (1/64), and exact
 * below 64 ns. Minimum, maximum and sum are always exact.
 */
#ifndef POSIXTRACE_HISTOGRAM_H
#define POSIXTRACE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS		5
#define HISTOGRAM_BUCKETS	(1U << HISTOGRAM_BITS)	/* per power of two */
#define HISTOGRAM_ROWS		(64 - HISTOGRAM_BITS + 1)
#define HISTOGRAM_SIZE		(HISTOGRAM_ROWS * HISTOGRAM_BUCKETS)

/**
 * struct histogram - durations; all zero is an empty histogram
 * @count: number of values
 * @min: the smallest value
 * @max: the largest value
 * @sum: the sum of all values, at most UINT64_MAX
 * @row: buckets for each power of two, or NULL without values; the first row is for all values
 *	below HISTOGRAM_BUCKETS
 */
struct histogram {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t sum;
	uint64_t *row[HISTOGRAM_ROWS];
};

/* histogram_add() - add a value; returns 0 or -ENOMEM */
int histogram_add(struct histogram *histogram, uint64_t value);

/* histogram_merge() - add all values of another histogram; returns 0 or -ENOMEM */
int histogram_merge(struct histogram *histogram, const struct histogram *other);

/* histogram_clear() - remove all values, and keep the memory for others */
void histogram_clear(struct histogram *histogram);

/**
 * histogram_percentile() - get a percentile
 * @histogram: a histogram that is not empty
 * @percent: 1 to 100
 *
 * Return: the smallest value that is not exceeded by @percent per cent of the values.
 */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent);

/* histogram_row() - get the number of values in a row */
uint64_t histogram_row(const struct histogram *histogram, unsigned int row);

/* histogram_row_start() - get the smallest value of a row */
uint64_t histogram_row_start(unsigned int row);

/* histogram_bucket() - get the number of values in bucket @index < HISTOGRAM_SIZE, by size */
uint64_t histogram_bucket(const struct histogram *histogram, unsigned int index);

/* histogram_value() - get the value that represents all values of a bucket that is not empty */
uint64_t histogram_value(const struct histogram *histogram, unsigned int index);

void histogram_free(struct histogram *histogram);

#endif /* POSIXTRACE_HISTOGRAM_H */
