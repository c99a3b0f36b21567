/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits of threads: where they waited, how long, and who woke them. Keeps sums for each thread and
 * place, and the longest waits.
 */
#ifndef POSIXTRACE_WAITS_H
#define POSIXTRACE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/waker.h"

#define WAITS_CALLS		(1U << 10)	/* limit of system calls with a name */
#define WAITS_SUMS		(1U << 16)	/* limit of sums: one per thread and place */
#define WAITS_LONGEST		10

/* Where a thread waits: one of these, or WAITS_IN_CALL plus a number for a system call. */
enum waits_place {
	WAITS_IN_UNKNOWN,
	WAITS_IN_NO_CALL,
	WAITS_IN_FAULT,
	WAITS_IN_CALL		/* this number itself: a system call beyond WAITS_CALLS */
};

/**
 * struct wait - one wait
 * @thread: number of the thread
 * @place: where it waited
 * @io: the thread waited for input or output
 * @begin: time when it began
 * @length: ns until it was woken
 * @waker: how it ended
 */
struct wait {
	uint32_t thread;
	uint32_t place;
	bool io;
	uint64_t begin;
	uint64_t length;
	struct waker waker;
};

/**
 * struct waits_sum - all waits of a thread in a place
 * @thread: number of the thread
 * @place: where it waited
 * @io: the threads waited for input or output
 * @count: number of waits
 * @time: total time, ns
 * @longest: longest wait, ns
 */
struct waits_sum {
	uint32_t thread;
	uint32_t place;
	bool io;
	uint64_t count;
	uint64_t time;
	uint64_t longest;
};

struct waits;

/* waits_new() - create an empty set of waits; returns 0 or -ENOMEM */
int waits_new(struct waits **waits);

/**
 * waits_call() - find the place of a system call
 * @waits: from waits_new()
 * @entry: fields of its syscall_entry
 * @place: where to store the place
 *
 * Return: 0 or -ENOMEM.
 */
int waits_call(struct waits *waits, const struct kevent *entry, uint32_t *place);

/* waits_add() - count a wait; returns 0 or -ENOMEM */
int waits_add(struct waits *waits, const struct wait *wait);

/**
 * waits_sums() - get the sums
 * @waits: from waits_new()
 * @count: where to store their number
 *
 * The waits of threads and places beyond WAITS_SUMS are not included.
 *
 * Return: an array, valid until the next waits_add().
 */
const struct waits_sum *waits_sums(const struct waits *waits, size_t *count);

/**
 * waits_longest() - get the longest waits
 * @waits: from waits_new()
 * @count: where to store their number, at most WAITS_LONGEST
 *
 * Return: an array, the longest first; waits of equal length are in the order of their ends.
 */
const struct wait *waits_longest(const struct waits *waits, size_t *count);

/* waits_place_name() - get the name of a place; may contain any bytes */
const char *waits_place_name(const struct waits *waits, uint32_t place);

void waits_free(struct waits *waits);

#endif /* POSIXTRACE_WAITS_H */
