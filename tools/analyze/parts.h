/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A period of time divided into parts. The parts form a tree: the times of the children of a part
 * add up to the time of the part. Periods of the same kind are merged into one part with a count.
 * Each step is one period of a part without children. The steps are in order of time.
 *
 * There are at most PARTS_MAX parts. Each of them can have one additional child, PART_MORE, for all
 * children that do not fit. A part takes 120 bytes, a step 24.
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
	PART_RAN,		/* child of PART_RUNNABLE: another thread ran on the CPU */
	PART_RAN_OTHER,		/* as PART_RAN, but the thread is not followed */
	PART_RAN_UNKNOWN,	/* as PART_RAN, but the CPU is unknown */
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
 * @other: number of the thread that ran on the CPU, that woke @thread, or that created @thread; 0:
 *	unknown. PART_INTERRUPT: number for tracks_irq_name()
 * @holder: blocked: number of the thread that held the lock; 0: unknown
 * @place: running, blocked: number of the place, such as a system call: see waits.h
 * @by: blocked: what woke the thread, enum waker_kind
 * @letter: blocked: state letter of ps(1), or 0
 * @io: blocked: the thread waited for a block device
 * @fault: blocked: the wait followed a page fault
 * @has_arg: @arg names what the call works on
 * @preempted: PART_RUNNABLE: the thread was preempted, not woken
 * @caused: blocked: @other caused the end of the wait; the children are what @other did
 * @ns: total time
 * @count: number of periods
 * @longest: length of the longest period, ns
 * @longest_at: start of the longest period
 * @faults: running: number of page faults
 * @parent: index of the parent part, or PARTS_NONE
 * @child: first child, or PARTS_NONE
 * @next: next child of @parent, or PARTS_NONE
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
 * struct step - one period of a part without children
 * @begin: its start
 * @end: its end
 * @part: index of the part
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
 * @parent: index of the part that includes the period
 * @what: identifies the part: only the members up to @caused are used
 * @begin: its start
 * @end: its end
 * @found: where to store the index of the part in parts_all()
 *
 * Return: 0 or -ENOMEM.
 */
int parts_add(struct parts *parts, uint32_t parent, const struct part *what, uint64_t begin,
	      uint64_t end, uint32_t *found);

/* parts_add_faults() - count page faults in a part */
void parts_add_faults(struct parts *parts, uint32_t part, uint64_t count);

/* parts_step() - append a step; returns 0 or -ENOMEM */
int parts_step(struct parts *parts, uint32_t part, uint64_t begin, uint64_t end);

/* parts_all() - get all parts and their number; valid until the next call of parts_add() */
const struct part *parts_all(const struct parts *parts, size_t *count);

/* parts_steps() - get all steps; sets @more if later steps are missing because of the limit */
const struct step *parts_steps(const struct parts *parts, size_t *count, bool *more);

/**
 * parts_sorted() - get the children of a part
 * @parts: the tree
 * @part: index of the part
 * @count: where to store their number
 *
 * Return: an array of the indices of the children, the longest first, to free; NULL if out of
 * memory.
 */
uint32_t *parts_sorted(const struct parts *parts, uint32_t part, size_t *count);

void parts_free(struct parts *parts);

#endif /* POSIXTRACE_PARTS_H */
