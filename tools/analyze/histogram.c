// SPDX-License-Identifier: GPL-2.0
/*
 * A histogram of durations: see histogram.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/histogram.h"

/*
 * Returns the row of a value. There is one row per power of two, but the first row has all values
 * below HISTOGRAM_BUCKETS.
 */
static unsigned int row_of(uint64_t value)
{
	if (value < HISTOGRAM_BUCKETS)
		return 0;
	return 64 - (unsigned int)__builtin_clzll(value) - HISTOGRAM_BITS;
}

/* A bucket ignores this many low bits of its values. */
static unsigned int shift_of(unsigned int row)
{
	return row ? row - 1 : 0;
}

uint64_t histogram_row_start(unsigned int row)
{
	return row ? (uint64_t)HISTOGRAM_BUCKETS << shift_of(row) : 0;
}

int histogram_add(struct histogram *histogram, uint64_t value)
{
	unsigned int row = row_of(value);
	uint64_t **buckets = &histogram->row[row];

	if (!*buckets)
		*buckets = calloc(HISTOGRAM_BUCKETS, sizeof(**buckets));
	if (!*buckets)
		return -ENOMEM;
	(*buckets)[(value >> shift_of(row)) % HISTOGRAM_BUCKETS]++;
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	if (__builtin_add_overflow(histogram->sum, value, &histogram->sum))
		histogram->sum = UINT64_MAX;
	histogram->count++;
	return 0;
}

int histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	if (!other->count)
		return 0;
	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++) {
		if (!other->row[row] || histogram->row[row])
			continue;
		histogram->row[row] = calloc(HISTOGRAM_BUCKETS, sizeof(**histogram->row));
		if (!histogram->row[row])
			return -ENOMEM;
	}
	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++) {
		for (unsigned int i = 0; other->row[row] && i < HISTOGRAM_BUCKETS; i++)
			histogram->row[row][i] += other->row[row][i];
	}
	if (!histogram->count || other->min < histogram->min)
		histogram->min = other->min;
	if (other->max > histogram->max)
		histogram->max = other->max;
	if (__builtin_add_overflow(histogram->sum, other->sum, &histogram->sum))
		histogram->sum = UINT64_MAX;
	histogram->count += other->count;
	return 0;
}

void histogram_clear(struct histogram *histogram)
{
	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++) {
		if (histogram->row[row])
			memset(histogram->row[row], 0,
			       HISTOGRAM_BUCKETS * sizeof(**histogram->row));
	}
	histogram->count = 0;
	histogram->min = 0;
	histogram->max = 0;
	histogram->sum = 0;
}

/* Returns the middle of a bucket, clamped to the range of values seen. */
static uint64_t value_of(const struct histogram *histogram, unsigned int row, unsigned int bucket)
{
	unsigned int shift = shift_of(row);
	uint64_t value = histogram_row_start(row) + ((uint64_t)bucket << shift) +
			 ((1ULL << shift) - 1) / 2;

	if (value < histogram->min)
		return histogram->min;
	return value > histogram->max ? histogram->max : value;
}

uint64_t histogram_bucket(const struct histogram *histogram, unsigned int index)
{
	const uint64_t *buckets = histogram->row[index / HISTOGRAM_BUCKETS];

	return buckets ? buckets[index % HISTOGRAM_BUCKETS] : 0;
}

uint64_t histogram_value(const struct histogram *histogram, unsigned int index)
{
	return value_of(histogram, index / HISTOGRAM_BUCKETS, index % HISTOGRAM_BUCKETS);
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent)
{
	/* Rank of the percentile among all values, rounded up. */
	uint64_t rank = histogram->count / 100 * percent +
			(histogram->count % 100 * percent + 99) / 100;

	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++) {
		const uint64_t *buckets = histogram->row[row];

		for (unsigned int i = 0; buckets && i < HISTOGRAM_BUCKETS; i++) {
			if (buckets[i] >= rank)
				return value_of(histogram, row, i);
			rank -= buckets[i];
		}
	}
	return histogram->max;
}

uint64_t histogram_row(const struct histogram *histogram, unsigned int row)
{
	const uint64_t *buckets = histogram->row[row];
	uint64_t count = 0;

	for (unsigned int i = 0; buckets && i < HISTOGRAM_BUCKETS; i++)
		count += buckets[i];
	return count;
}

void histogram_free(struct histogram *histogram)
{
	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++)
		free(histogram->row[row]);
}
