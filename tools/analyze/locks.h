/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits for futexes: how often and how long threads waited for each address, and who held the lock.
 */
#ifndef POSIXTRACE_LOCKS_H
#define POSIXTRACE_LOCKS_H

#include <stddef.h>
#include <stdint.h>

#define LOCKS_MAX	(1U << 16)	/* limit of addresses, and of sums */

/**
 * struct locks_sum - all waits for a futex address during which the same thread held the lock
 * @process: id of the process
 * @address: address of the futex
 * @holder: number of the thread that held the lock, 0 if unknown
 * @count: number of waits
 * @time: total time, ns
 * @longest: longest wait, ns
 */
struct locks_sum {
	uint32_t process;
	uint64_t address;
	uint32_t holder;
	uint64_t count;
	uint64_t time;
	uint64_t longest;
};

struct locks;

/* locks_new() - create an empty set of waits; returns 0 or -ENOMEM */
int locks_new(struct locks **locks);

/**
 * locks_add() - count a wait
 * @locks: from locks_new()
 * @wait: has the process, the address and the holder
 * @ns: length of the wait
 *
 * Return: 0 or -ENOMEM.
 */
int locks_add(struct locks *locks, const struct locks_sum *wait, uint64_t ns);

/**
 * locks_sums() - get the sums
 * @locks: from locks_new()
 * @count: where to store their number
 *
 * Waits beyond LOCKS_MAX are not included.
 *
 * Return: an array, valid until the next locks_add().
 */
const struct locks_sum *locks_sums(const struct locks *locks, size_t *count);

void locks_free(struct locks *locks);

#endif /* POSIXTRACE_LOCKS_H */
