/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits of threads: where they waited, how long, and who woke them. Sums for each thread and
 * place, and the longest waits.
 */
#ifndef POSIXTRACE_WAITS_H
#define POSIXTRACE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAITS_CALLS		(1U << 10)	/* system calls with a name */
#define WAITS_SUMS		(1U << 16)	/* sums of a thread in a place */
#define WAITS_LONGEST		10
#define WAITS_CALL_NAME		32	/* bytes of the name of a system call, with the NUL */

/* Where a thread waits: one of these, or WAITS_IN_CALL plus the number of a system call. */
enum waits_place {
	WAITS_IN_UNKNOWN,
	WAITS_IN_NO_CALL,
	WAITS_IN_FAULT,
	WAITS_IN_CALL		/* of one of too many */
};

/* How a wait ends. */
enum waits_waker {
	WAITS_BY_UNKNOWN,	/* the wake-up is not among the events */
	WAITS_BY_NONE,		/* the trace or the thread ends before */
	WAITS_BY_THREAD,
	WAITS_BY_INTERRUPT,
	WAITS_BY_ANOTHER	/* a thread that may not be named */
};

/**
 * struct wait - one wait
 * @thread: number of the thread
 * @place: where it waited
 * @io: for input or output
 * @begin: when it began
 * @length: ns until it was woken
 * @waker: how it ended
 * @waker_pid: WAITS_BY_THREAD: the process of that thread
 * @waker_tid: WAITS_BY_THREAD: the id of that thread
 */
struct wait {
	uint32_t thread;
	uint32_t place;
	bool io;
	uint64_t begin;
	uint64_t length;
	enum waits_waker waker;
	pid_t waker_pid;
	pid_t waker_tid;
};

/**
 * struct waits_sum - all waits of a thread in a place
 * @thread: number of the thread
 * @place: where it waited
 * @io: for input or output
 * @count: number of waits
 * @time: ns of all
 * @longest: ns of the longest
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

/* waits_new() - begin without waits; returns 0 or -ENOMEM */
int waits_new(struct waits **waits);

/**
 * waits_call() - find the place of a system call
 * @waits: from waits_new()
 * @nr: number of the system call
 * @compat: the number is of the 32-bit interface
 * @name: its name; "" if it is not known; may have any bytes
 * @place: where to store the place
 *
 * Return: 0 or -ENOMEM.
 */
int waits_call(struct waits *waits, int32_t nr, bool compat, const char *name, uint32_t *place);

/* waits_add() - count a wait; returns 0 or -ENOMEM */
int waits_add(struct waits *waits, const struct wait *wait);

/**
 * waits_sums() - get the sums
 * @waits: from waits_new()
 * @count: where to store their number
 *
 * Waits beyond WAITS_SUMS are in no sum.
 *
 * Return: an array, valid until the next wait.
 */
const struct waits_sum *waits_sums(const struct waits *waits, size_t *count);

/**
 * waits_longest() - get the longest waits
 * @waits: from waits_new()
 * @count: where to store their number, at most WAITS_LONGEST
 *
 * Return: an array, the longest first, of equal ones the one that ended first.
 */
const struct wait *waits_longest(const struct waits *waits, size_t *count);

/* waits_place_name() - get the name of a place; may have any bytes */
const char *waits_place_name(const struct waits *waits, uint32_t place);

void waits_free(struct waits *waits);

#endif /* POSIXTRACE_WAITS_H */
