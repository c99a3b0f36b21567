/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares the measures of two traces: what takes longer, by which factor, and how certain that is.
 *
 * The test by Mann and Whitney tells if times tend to be longer in one trace than in the other. It
 * uses only the order of the times, so it holds for any distribution. The factor is the median of
 * the ratios of all pairs of times.
 */
#ifndef POSIXTRACE_COMPARE_H
#define POSIXTRACE_COMPARE_H

#include "analyze/measures.h"

#define COMPARE_LEAST	20	/* times needed in each trace for a result */

enum compare_result {
	COMPARE_UNCLEAR,	/* no significant difference */
	COMPARE_FEW,		/* not enough times */
	COMPARE_ONLY_A,		/* only trace A has this measure */
	COMPARE_ONLY_B,
	COMPARE_SHORTER,	/* shorter in trace B */
	COMPARE_LONGER,
};

/**
 * struct comparison - a measure in two traces
 * @a: the measure in trace A, or NULL
 * @b: the measure in trace B, or NULL
 * @result: result of the comparison
 * @p: UNCLEAR, SHORTER, LONGER: probability of such a difference by chance, corrected for the
 *	number of comparisons (Holm)
 * @ratio: UNCLEAR, SHORTER, LONGER: median of the times of B divided by the times of A
 * @low: lower end of the 99 % interval of @ratio
 * @high: upper end of that interval
 * @added: by how much the times of B exceed the mean of A in total; negative if shorter
 */
struct comparison {
	const struct measure *a;
	const struct measure *b;
	enum compare_result result;
	double p;
	double ratio;
	double low;
	double high;
	double added;
};

/**
 * compare_measures() - compare the measures of a kind
 * @a: measures of trace A, after measures_end()
 * @b: measures of trace B
 * @kind: the kind
 * @count: where to store the number of comparisons
 *
 * The result is sorted: longer ones first, then shorter ones, then all others. Within each group,
 * the order is by the absolute value of @added, then by total time.
 *
 * Return: an array to free, or NULL if out of memory.
 */
struct comparison *compare_measures(const struct measures *a, const struct measures *b,
				    enum measure_kind kind, size_t *count);

#endif /* POSIXTRACE_COMPARE_H */
