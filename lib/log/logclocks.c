// SPDX-License-Identifier: MIT
/*
 * Pairs of clocks in a log: the clock of the events, and another clock at the same moment. They
 * convert times of the log to the other clock. The file may be forged: results may then be wrong,
 * but pairs that contradict each other give no result with a bound.
 */
#include <posixtrace.h>
#include <stdlib.h>
#include <time.h>

#include "log/log.h"
#include "log/logclocks.h"
#include "log/loghead.h"

/* Times are smaller, so that sums and differences of them and of errors cannot overflow. */
#define TIME_MAX	((__u64)1 << 62)

/* 500 ppm: the error grows by 1 ns in this many ns. */
#define DRIFT		2000

_Static_assert(POSIXTRACE_CLOCKID_UTC == POSIXTRACE_LOG_CLOCK_UTC, "one number of UTC");
_Static_assert(POSIXTRACE_CLOCK_UNKNOWN == POSIXTRACE_CLOCK_ERROR_UNKNOWN, "one unknown error");
_Static_assert(POSIXTRACE_CLOCK_STEPPED == POSIXTRACE_LOG_CLOCK_STEPPED, "the same flags");

/* The pairs of one clock. */
struct range {
	const struct pxtu_log_pair *first;
	size_t count;
};

static int add_pair(struct pxtu_log *log, const struct posixtrace_log_clock *pair)
{
	struct pxtu_log_clocks *clocks = &log->survey.clocks;
	struct pxtu_log_pair *to;
	int err;

	if (pair->time >= TIME_MAX || pair->value < 0 || (__u64)pair->value >= TIME_MAX ||
	    (pair->error > POSIXTRACE_CLOCK_ERROR_MAX && pair->error != POSIXTRACE_CLOCK_UNKNOWN)) {
		log->survey.damaged = true;
		return 0;
	}
	err = pxtu_log_make_room(&clocks->pair, sizeof(*to), clocks->nr_pairs,
				 &clocks->pairs_room);
	if (err)
		return err == -ENOSPC ? 0 : err;
	to = &clocks->pair[clocks->nr_pairs];
	to->pair = *pair;
	to->number = clocks->nr_pairs++;
	clocks->sorted = false;
	return 0;
}

int pxtu_log_add_clocks(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	__u64 offset = block->offset + log->head.block_size;
	struct posixtrace_log_clock pair;
	int err = 0;
	__u32 i;

	if (block->head.count > block->head.size / sizeof(pair)) {
		log->survey.damaged = true;
		return 0;
	}
	for (i = 0; i < block->head.count && !err; i++, offset += sizeof(pair)) {
		if (pxtu_log_read(log, &pair, sizeof(pair), offset) != sizeof(pair))
			return pxtu_log_failed(log);
		err = add_pair(log, &pair);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct pxtu_log_pair *x = a, *y = b;

	if (x->pair.clock != y->pair.clock)
		return x->pair.clock < y->pair.clock ? -1 : 1;
	if (x->pair.time != y->pair.time)
		return x->pair.time < y->pair.time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(struct pxtu_log_clocks *clocks)
{
	if (!clocks->sorted && clocks->nr_pairs)
		qsort(clocks->pair, clocks->nr_pairs, sizeof(*clocks->pair), compare);
	clocks->sorted = true;
}

void pxtu_log_clock_pairs(struct pxtu_log *log, struct posixtrace_clock_pair *pairs, size_t *count,
			  __u64 *next)
{
	struct pxtu_log_clocks *clocks = &log->survey.clocks;
	const struct posixtrace_log_clock *pair;
	size_t stored;

	sort(clocks);
	for (stored = 0; stored < *count && *next < clocks->nr_pairs; stored++) {
		pair = &clocks->pair[(*next)++].pair;
		pairs[stored] = (struct posixtrace_clock_pair){
			.time = pair->time,
			.value = pair->value,
			.error = pair->error,
			.clock = pair->clock,
			.flags = pair->flags & POSIXTRACE_CLOCK_STEPPED,
		};
	}
	*count = stored;
}

/* Returns the index of the first pair that is not before the clock, or before the time. */
static size_t lower_bound(const struct pxtu_log_clocks *clocks, int clock)
{
	size_t low = 0, high = clocks->nr_pairs, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (clocks->pair[middle].pair.clock < clock)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct range range_of(const struct pxtu_log_clocks *clocks, int clock)
{
	const size_t first = lower_bound(clocks, clock);

	return (struct range){
		.first = clocks->pair ? clocks->pair + first : NULL,
		.count = lower_bound(clocks, clock + 1) - first,
	};
}

/* Returns the number of pairs that are not after the time. */
static size_t pairs_until(const struct range *range, __u64 time)
{
	size_t low = 0, high = range->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (range->first[middle].pair.time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The pairs on both sides of a time; NULL if there is none. */
static void find(const struct range *range, __u64 time, const struct posixtrace_log_clock **before,
		 const struct posixtrace_log_clock **after)
{
	const size_t n = pairs_until(range, time);

	*before = n ? &range->first[n - 1].pair : NULL;
	*after = n < range->count ? &range->first[n].pair : NULL;
}

static __s64 difference(const struct posixtrace_log_clock *pair)
{
	return pair->value - (__s64)pair->time;
}

/* The error after so many ns without another pair. */
static __u64 error_after(__u64 error, __u64 ns)
{
	return error == POSIXTRACE_CLOCK_UNKNOWN ? error : error + ns / DRIFT + (ns % DRIFT != 0);
}

static struct posixtrace_clock_time shifted(__u64 time, __s64 diff, __u64 error)
{
	return (struct posixtrace_clock_time){ .value = (__s64)time + diff, .error = error };
}

/* Between two pairs, the clocks run at the same speed: both pairs limit the difference. */
static struct posixtrace_clock_time between(const struct posixtrace_log_clock *before,
					    const struct posixtrace_log_clock *after, __u64 time)
{
	__s64 low, high, other;

	if (after->flags & POSIXTRACE_LOG_CLOCK_STEPPED ||
	    before->error == POSIXTRACE_CLOCK_UNKNOWN || after->error == POSIXTRACE_CLOCK_UNKNOWN)
		return shifted(time, difference(before), POSIXTRACE_CLOCK_UNKNOWN);
	low = difference(before) - (__s64)before->error;
	other = difference(after) - (__s64)after->error;
	if (other > low)
		low = other;
	high = difference(before) + (__s64)before->error;
	other = difference(after) + (__s64)after->error;
	if (other < high)
		high = other;
	if (low > high)
		return shifted(time, difference(before), POSIXTRACE_CLOCK_UNKNOWN);
	return shifted(time, low + (high - low) / 2, ((__u64)(high - low) + 1) / 2);
}

static struct posixtrace_clock_time convert(const struct range *range, __u64 time)
{
	const struct posixtrace_log_clock *before, *after;
	__u64 error;

	find(range, time, &before, &after);
	if (before && after)
		return between(before, after, time);
	if (before)
		return shifted(time, difference(before),
			       error_after(before->error, time - before->time));
	if (!after)
		return shifted(time, 0, POSIXTRACE_CLOCK_UNKNOWN);
	error = after->flags & POSIXTRACE_LOG_CLOCK_STEPPED ? POSIXTRACE_CLOCK_UNKNOWN :
		error_after(after->error, after->time - time);
	return shifted(time, difference(after), error);
}

/* The error of CLOCK_REALTIME as an estimate of UTC. */
static __u64 utc_error(const struct range *utc, __u64 time, __u64 error)
{
	const struct posixtrace_log_clock *before, *after;
	__u64 noted;

	find(utc, time, &before, &after);
	if (!before || error == POSIXTRACE_CLOCK_UNKNOWN)
		return POSIXTRACE_CLOCK_UNKNOWN;
	noted = error_after(before->error, time - before->time);
	return noted == POSIXTRACE_CLOCK_UNKNOWN ? noted : noted + error;
}

int pxtu_log_convert(struct pxtu_log *log, int clock, const uint64_t *times, size_t count,
		     struct posixtrace_clock_time *results)
{
	struct pxtu_log_clocks *clocks = &log->survey.clocks;
	const bool is_utc = clock == POSIXTRACE_CLOCKID_UTC;
	struct range range, utc;
	size_t i;

	sort(clocks);
	range = range_of(clocks, is_utc ? CLOCK_REALTIME : clock);
	utc = range_of(clocks, POSIXTRACE_CLOCKID_UTC);
	if (!range.count)
		return -ENOENT;
	for (i = 0; i < count; i++) {
		if (times[i] >= TIME_MAX) {
			results[i] = shifted(TIME_MAX, 0, POSIXTRACE_CLOCK_UNKNOWN);
			continue;
		}
		results[i] = convert(&range, times[i]);
		if (is_utc)
			results[i].error = utc_error(&utc, times[i], results[i].error);
	}
	return 0;
}
