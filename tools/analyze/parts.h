/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A period of time divided into parts, as a tree: the times of the parts of a part add up to its
 * own time. Periods of the same kind are merged into one part with a count. The steps are the
 * periods in parts that are not divided, one by one in order of time.
 *
 * There are at most PARTS_MAX parts, and for each of them one PART_MORE that stands for all parts
 * that do not fit. A part takes 120 bytes, a step 24.
 */
#ifndef POSIXTRACE_PARTS_H
#define POSIXTRACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTS_MAX	(1U << 16)
#define PARTS_STEPS	(1U << 20)

#define PARTS_NONE	UINT32_MAX	/* no part */

enum part_kind {
	PART_WHOLE,		/* the whole period; part 0 */
	PART_RUNNING,
	PART_INTERRUPT,		/* an interrupt took the CPU */
	PART_RUNNABLE,		/* waited for a CPU */
	PART_RAN,		/* in PART_RUNNABLE: another thread ran on the CPU */
	PART_RAN_OTHER,		/* no thread that is followed ran there */
	PART_RAN_UNKNOWN,	/* the CPU is unknown */
	PART_BLOCKED,
	PART_FAULT,		/* blocked in a page fault */
	PART_UNBORN,		/* the thread had not been created yet */
	PART_UNKNOWN,		/* events are missing, or contradict one another */
	PART_MORE,		/* parts beyond the limit */
	PART_KINDS
};

/**
 * struct part - a part of a period
 * @arg: running, blocked: first argument of the system call, if @has_arg
 * @kind: what it is
 * @thread: whose state it is: a number for tracks_thread()
 * @other: number of the thread that ran, that woke it, or that created it; 0: unknown;
 *	PART_INTERRUPT: number for tracks_irq_name()
 * @holder: blocked: number of the thread that held the lock; 0: unknown
 * @place: running, blocked: where
 * @by: blocked: enum waker_kind
 * @letter: blocked: state letter of ps(1), or 0
 * @io: blocked: for a block device
 * @fault: blocked: after a page fault
 * @has_arg: @arg names what the call works on
 * @preempted: PART_RUNNABLE: it was preempted, not woken
 * @caused: blocked: the parts are what @other did
 * @ns: its time
 * @count: number of periods
 * @longest: ns of the longest of them
 * @longest_at: start of the longest of them
 * @faults: running: number of page faults
 * @parent: the part that it divides, or PARTS_NONE
 * @child: its first part, or PARTS_NONE
 * @next: the next part of @parent, or PARTS_NONE
 */
struct part {
	uint64_t arg;
	enum part_kind kind;
	uint32_t thread;
	uint32_t other;
	uint32_t holder;
	uint32_t place;
	uint8_t by;
	char letter;
	bool io;
	bool fault;
	bool has_arg;
	bool preempted;
	bool caused;
	uint64_t ns;
	uint64_t count;
	uint64_t longest;
	uint64_t longest_at;
	uint64_t faults;
	uint32_t parent;
	uint32_t child;
	uint32_t next;
};

/**
 * struct step - a period in a part that is not divided
 * @begin: its start
 * @end: its end
 * @part: the part
 */
struct step {
	uint64_t begin;
	uint64_t end;
	uint32_t part;
};

struct parts;

/* parts_new() - create a tree with the part PART_WHOLE; returns 0 or -ENOMEM */
int parts_new(struct parts **parts);

/**
 * parts_add() - count a period
 * @parts: from parts_new()
 * @parent: the part that it is in
 * @what: what it is: the members up to @caused
 * @begin: its start
 * @end: its end
 * @found: where to store its part; valid like the array of parts_all()
 *
 * Return: 0 or -ENOMEM.
 */
int parts_add(struct parts *parts, uint32_t parent, const struct part *what, uint64_t begin,
	      uint64_t end, uint32_t *found);

/* parts_add_faults() - count page faults in a part */
void parts_add_faults(struct parts *parts, uint32_t part, uint64_t count);

/* parts_step() - add the step that follows the others; returns 0 or -ENOMEM */
int parts_step(struct parts *parts, uint32_t part, uint64_t begin, uint64_t end);

/* parts_all() - get all parts and their number; valid until the next call of parts_add() */
const struct part *parts_all(const struct parts *parts, size_t *count);

/* parts_steps() - get all steps; @more: the steps after the last one are missing */
const struct step *parts_steps(const struct parts *parts, size_t *count, bool *more);

/**
 * parts_sorted() - get the parts of a part
 * @parts: the tree
 * @part: the part that they divide
 * @count: where to store their number
 *
 * Return: an array of the numbers of the parts, the longest first, to free; NULL if out of memory.
 */
uint32_t *parts_sorted(const struct parts *parts, uint32_t part, size_t *count);

void parts_free(struct parts *parts);

#endif /* POSIXTRACE_PARTS_H */
