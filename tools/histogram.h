/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often which durations were seen, in memory that does not grow with their number.
 *
 * Each power of two is divided into 32 equal buckets: what is told of a value is wrong by a
 * 64th of it at most, and below 64 ns by nothing. Minimum, maximum and sum are exact.
 */
#ifndef POSIXTRACE_HISTOGRAM_H
#define POSIXTRACE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS		5
#define HISTOGRAM_BUCKETS	(1U << HISTOGRAM_BITS)	/* of a power of two */
#define HISTOGRAM_ROWS		(64 - HISTOGRAM_BITS + 1)

/**
 * struct histogram - durations; all zero is an empty one
 * @count: how many
 * @min: the smallest
 * @max: the largest
 * @sum: of all, or UINT64_MAX if it is larger
 * @row: buckets of a power of two, once it was seen; the first row has all that is below
 *	HISTOGRAM_BUCKETS
 */
struct histogram {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t sum;
	uint64_t *row[HISTOGRAM_ROWS];
};

/* histogram_add() - one more; 0 or -ENOMEM */
int histogram_add(struct histogram *histogram, uint64_t value);

/**
 * histogram_percentile() - so much per cent are not larger
 * @histogram: not empty
 * @percent: 1 to 100
 */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent);

/* histogram_row() - how many there are in a row */
uint64_t histogram_row(const struct histogram *histogram, unsigned int row);

/* histogram_row_start() - the smallest that a row can have */
uint64_t histogram_row_start(unsigned int row);

void histogram_free(struct histogram *histogram);

#endif /* POSIXTRACE_HISTOGRAM_H */
