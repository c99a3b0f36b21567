/* SPDX-License-Identifier: MIT */
/* Pairs of clocks in a log. */
#ifndef PXTU_LOGCLOCKS_H
#define PXTU_LOGCLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/posixtrace_log.h>

struct posixtrace_clock_pair;
struct posixtrace_clock_time;
struct pxtu_log;
struct pxtu_log_block;

/**
 * struct pxtu_log_pair - a pair of clocks
 * @pair: the pair; its times are in range
 * @number: its number in the log
 */
struct pxtu_log_pair {
	struct posixtrace_log_clock pair;
	size_t number;
};

/**
 * struct pxtu_log_clocks - pairs of clocks
 * @pair: the pairs
 * @nr_pairs: number of elements of @pair
 * @pairs_room: room in @pair
 * @sorted: they are in the order of clocks, and the pairs of each clock in the order of time
 */
struct pxtu_log_clocks {
	struct pxtu_log_pair *pair;
	size_t nr_pairs;
	size_t pairs_room;
	bool sorted;
};

/**
 * pxtu_log_add_clocks() - add the pairs in a block
 * @log: the log
 * @block: a block of type CLOCKS with a good payload
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_log_add_clocks(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_clock_pairs() - get pairs
 * @log: the log
 * @pairs: result
 * @count: room there; receives the number of pairs, 0 after the last one
 * @next: number of the first one in the order of clocks and times; receives the next number
 */
void pxtu_log_clock_pairs(struct pxtu_log *log, struct posixtrace_clock_pair *pairs, size_t *count,
			  __u64 *next);

/**
 * pxtu_log_convert() - convert times to another clock
 * @log: the log
 * @clock: the other clock
 * @times: times of the log, ns; may have any values
 * @count: number of times
 * @results: results
 *
 * Return: 0; -ENOENT if the log has no pairs of the clock so far.
 */
int pxtu_log_convert(struct pxtu_log *log, int clock, const uint64_t *times, size_t count,
		     struct posixtrace_clock_time *results);

#endif /* PXTU_LOGCLOCKS_H */
