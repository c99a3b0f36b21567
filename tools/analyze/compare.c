// SPDX-License-Identifier: GPL-2.0
/*
 * Compares measures: see compare.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"

#define P_MAX		0.01	/* differences with a larger p-value are reported as unclear */
#define INTERVAL_SIGMAS	2.5758	/* half the width of a 99 % interval */
#define RATIO_BITS	64	/* ratios are between 2^-64 and 2^64 */
#define STEPS		48	/* steps of the bisection of that range */

/* The buckets of a histogram that are not empty: their values, and how many times are in each. */
struct points {
	size_t count;
	struct {
		double value;
		double times;
	} at[HISTOGRAM_SIZE];
};

static void set_points(struct points *points, const struct histogram *times)
{
	uint64_t count, value;

	points->count = 0;
	for (unsigned int i = 0; i < HISTOGRAM_SIZE; i++) {
		count = histogram_bucket(times, i);
		if (!count)
			continue;
		value = histogram_value(times, i);
		/* There is no ratio to 0 ns, so use half a nanosecond. */
		points->at[points->count].value = value ? (double)value : 0.5;
		points->at[points->count++].times = (double)count;
	}
}

/* ------------------------------------------------------------------ */
/* The test								*/

/* Compares each time of A with each time of B. Ties count half. */
struct ranks {
	double longer;
	double pairs;
	double sigma;		/* standard deviation of @longer if there is no difference */
};

static void rank(const struct histogram *a, const struct histogram *b, struct ranks *ranks)
{
	double n = (double)a->count, m = (double)b->count, all = n + m, below = 0, ties = 0;

	*ranks = (struct ranks){ .pairs = n * m };
	for (unsigned int i = 0; i < HISTOGRAM_SIZE; i++) {
		double in_a = (double)histogram_bucket(a, i), in_b = (double)histogram_bucket(b, i);
		double tied = in_a + in_b;

		ranks->longer += in_b * (below + in_a / 2);
		ties += tied * tied * tied - tied;
		below += in_a;
	}
	ranks->sigma = sqrt(n * m / 12 * (all + 1 - ties / (all * (all - 1))));
}

/* Returns the probability that chance alone causes a difference this large, in either direction. */
static double chance(const struct ranks *ranks)
{
	/* Continuity correction: the possible values are 1 apart, so subtract 0.5. */
	double distance = fabs(ranks->longer - ranks->pairs / 2) - 0.5;

	if (distance <= 0 || !(ranks->sigma > 0))
		return 1;
	return erfc(distance / ranks->sigma / sqrt(2));
}

/* ------------------------------------------------------------------ */
/* The ratio								*/

/* Returns the number of pairs in which B took at most @ratio times as long as A. */
static double pairs_up_to(const struct points *a, const struct points *b, double ratio)
{
	double below = 0, pairs = 0;
	size_t j = 0;

	for (size_t i = 0; i < a->count; i++) {
		while (j < b->count && b->at[j].value <= ratio * a->at[i].value)
			below += b->at[j++].times;
		pairs += a->at[i].times * below;
	}
	return pairs;
}

/* Returns the ratio that @wanted pairs do not exceed. */
static double ratio_at(const struct points *a, const struct points *b, double wanted)
{
	double low = -RATIO_BITS, high = RATIO_BITS, middle;

	for (int i = 0; i < STEPS; i++) {
		middle = (low + high) / 2;
		if (pairs_up_to(a, b, exp2(middle)) >= wanted)
			high = middle;
		else
			low = middle;
	}
	return exp2(high);
}

static void set_ratios(struct comparison *comparison, const struct ranks *ranks)
{
	static struct points a, b;
	const double half = ranks->pairs / 2, reach = INTERVAL_SIGMAS * ranks->sigma;

	set_points(&a, &comparison->a->times);
	set_points(&b, &comparison->b->times);
	comparison->ratio = ratio_at(&a, &b, half);
	comparison->low = ratio_at(&a, &b, fmax(half - reach, 1));
	comparison->high = ratio_at(&a, &b, fmin(half + reach, ranks->pairs));
}

/* ------------------------------------------------------------------ */
/* Rows									*/

static double mean_of(const struct histogram *times)
{
	return times->count ? (double)times->sum / (double)times->count : 0;
}

static void compare(struct comparison *comparison)
{
	const struct measure *a = comparison->a, *b = comparison->b;
	struct ranks ranks;

	comparison->p = 1;
	if (!a || !b) {
		comparison->result = a ? COMPARE_ONLY_A : COMPARE_ONLY_B;
		return;
	}
	comparison->added = (mean_of(&b->times) - mean_of(&a->times)) * (double)b->times.count;
	if (a->times.count < COMPARE_LEAST || b->times.count < COMPARE_LEAST) {
		comparison->result = COMPARE_FEW;
		return;
	}
	rank(&a->times, &b->times, &ranks);
	comparison->p = chance(&ranks);
	/* Preliminary: correct() may change it to COMPARE_UNCLEAR. */
	comparison->result = ranks.longer > ranks.pairs / 2 ? COMPARE_LONGER : COMPARE_SHORTER;
	set_ratios(comparison, &ranks);
}

static bool is_tested(const struct comparison *comparison)
{
	return comparison->result == COMPARE_LONGER || comparison->result == COMPARE_SHORTER;
}

static int more_certain(const void *a, const void *b)
{
	const struct comparison *x = a, *y = b;

	if (is_tested(x) != is_tested(y))
		return is_tested(x) ? -1 : 1;
	return x->p < y->p ? -1 : x->p > y->p;
}

/* Corrects the probabilities by Holm's method: among many comparisons, some are small by chance. */
static void correct(struct comparison *comparisons, size_t count)
{
	size_t tested = 0;
	double p, last = 0;

	qsort(comparisons, count, sizeof(*comparisons), more_certain);
	while (tested < count && is_tested(&comparisons[tested]))
		tested++;
	for (size_t i = 0; i < tested; i++) {
		p = fmin(comparisons[i].p * (double)(tested - i), 1);
		last = fmax(last, p);
		comparisons[i].p = last;
		if (last > P_MAX)
			comparisons[i].result = COMPARE_UNCLEAR;
	}
}

static uint64_t total_of(const struct comparison *comparison)
{
	uint64_t a = comparison->a ? comparison->a->times.sum : 0;
	uint64_t b = comparison->b ? comparison->b->times.sum : 0;

	return a > b ? a : b;
}

static const char *name_of(const struct comparison *comparison)
{
	const struct measure *measure = comparison->a ? comparison->a : comparison->b;

	return measure->name ? measure->name : "";
}

static int more_important(const void *a, const void *b)
{
	const struct comparison *x = a, *y = b;
	/* Results that do not compare times form one group, which comes last. */
	int left = x->result > COMPARE_ONLY_B ? x->result : 0;
	int right = y->result > COMPARE_ONLY_B ? y->result : 0;
	uint64_t left_total = total_of(x), right_total = total_of(y);

	if (left != right)
		return right - left;
	if (left && fabs(x->added) != fabs(y->added))
		return fabs(x->added) < fabs(y->added) ? 1 : -1;
	if (left_total != right_total)
		return left_total < right_total ? 1 : -1;
	return strcmp(name_of(x), name_of(y));
}

struct comparison *compare_measures(const struct measures *a, const struct measures *b,
				    enum measure_kind kind, size_t *count)
{
	size_t nr_a, nr_b;
	const struct measure **rows_a = measures_rows(a, kind, &nr_a);
	const struct measure **rows_b = measures_rows(b, kind, &nr_b);
	struct comparison *comparisons = calloc(nr_a + nr_b + 1, sizeof(*comparisons));

	*count = 0;
	if (!rows_a || !rows_b || !comparisons) {
		free(comparisons);
		comparisons = NULL;
	}
	for (size_t i = 0; comparisons && i < nr_a; i++)
		comparisons[(*count)++] = (struct comparison){
			.a = rows_a[i], .b = measure_find(measures_table(b), rows_a[i]),
		};
	for (size_t i = 0; comparisons && i < nr_b; i++) {
		if (!measure_find(measures_table(a), rows_b[i]))
			comparisons[(*count)++] = (struct comparison){ .b = rows_b[i] };
	}
	for (size_t i = 0; comparisons && i < *count; i++)
		compare(&comparisons[i]);
	if (comparisons) {
		correct(comparisons, *count);
		qsort(comparisons, *count, sizeof(*comparisons), more_important);
	}
	free(rows_a);
	free(rows_b);
	return comparisons;
}
