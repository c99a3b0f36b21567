// SPDX-License-Identifier: GPL-2.0
/*
 * Checks if several logs can be read as one: see logs_fit.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "event/logs_fit.h"
#include "util/message.h"

#define PAIRS	64	/* pairs of clocks that are read with one call */

/* The first and the last pair of CLOCK_MONOTONIC in a log. */
struct range {
	bool known;
	struct posixtrace_clock_pair ends[2];
};

/* Only copies of a log have the same random cookie. */
static int check_cookies(struct reader *const *readers, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (reader_cookie(readers[i]) != reader_cookie(readers[j]))
				continue;
			tell("%s: the same log as %s: name each log once", reader_path(readers[i]),
			     reader_path(readers[j]));
			return -ECANCELED;
		}
	}
	return 0;
}

static int read_range(const struct reader *reader, struct range *range)
{
	struct posixtrace_clock_pair pairs[PAIRS];
	unsigned long long next = 0;
	size_t count;
	int err;

	do {
		err = posixtrace_get_clock_pairs(reader_trid(reader), pairs, PAIRS, &count, &next);
		if (err)
			return -err;
		for (size_t i = 0; i < count; i++) {
			if (pairs[i].clock != CLOCK_MONOTONIC || pairs[i].value < 0)
				continue;
			if (!range->known)
				range->ends[0] = pairs[i];
			range->ends[1] = pairs[i];
			range->known = true;
		}
	} while (count);
	return 0;
}

/* Was @a certainly before @b, but has the later time? */
static bool is_reversed(const struct posixtrace_clock_pair *a,
			const struct posixtrace_clock_pair *b)
{
	const uint64_t apart = (uint64_t)(b->value - a->value);

	return a->value < b->value && a->time > b->time && a->error < apart &&
	       b->error < apart - a->error;
}

static bool is_consistent(const struct range *a, const struct range *b)
{
	for (size_t i = 0; i < 4 && a->known && b->known; i++) {
		const struct posixtrace_clock_pair *x = &a->ends[i % 2], *y = &b->ends[i / 2];

		if (is_reversed(x, y) || is_reversed(y, x))
			return false;
	}
	return true;
}

/*
 * Checks that the times of each host agree with CLOCK_MONOTONIC. The clock of the events never goes
 * back while streams exist, but it may between two recordings.
 */
static int check_clocks(struct reader *const *readers, size_t count, const struct hosts *hosts)
{
	struct range *ranges = calloc(count, sizeof(*ranges));
	int err = ranges ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		err = read_range(readers[i], &ranges[i]);
		for (size_t j = 0; !err && j < i; j++) {
			if (hosts_of(hosts, i) != hosts_of(hosts, j) ||
			    is_consistent(&ranges[i], &ranges[j]))
				continue;
			tell("%s: cannot compare its times with %s: a clock was set back",
			     reader_path(readers[i]), reader_path(readers[j]));
			err = -ECANCELED;
		}
	}
	free(ranges);
	return err;
}

int logs_fit(struct reader *const *readers, size_t count, const struct hosts *hosts)
{
	int err = check_cookies(readers, count);

	return err ? err : check_clocks(readers, count, hosts);
}
