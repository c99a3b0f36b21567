/* SPDX-License-Identifier: GPL-2.0 */
/* The threads of a trace while states.c sums up their times. Only for states.c. */
#ifndef POSIXTRACE_STATES_THREADS_H
#define POSIXTRACE_STATES_THREADS_H

#include <linux/posixtrace.h>
#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/intervals.h"
#include "analyze/snapshot.h"
#include "analyze/states.h"

struct event;

/* An invalid thread index. */
#define STATES_NO_THREAD	UINT32_MAX

/* A wait for a futex. */
struct futex {
	uint32_t place;
	uint64_t address;
	uint32_t holder;	/* number of the thread, or 0 */
};

/**
 * struct summary - a thread and what it did
 * @pub: the results
 * @alive: the thread is not known to have ended
 * @born: time when the thread was first seen
 * @exiting: the thread has recorded its exit
 * @exited: time of the exit
 * @gaps: number of gaps before its last event
 * @place: WAITS_IN_CALL or more: its current system call; WAITS_IN_NO_CALL; WAITS_IN_UNKNOWN
 * @fault: the last event of the thread was a page fault
 * @waits_in: the place where the thread began its last wait
 * @runs_since: start of the running interval that @interrupts and @interrupted refer to
 * @interrupts: ns in interrupts since @runs_since
 * @interrupted: end of the last interrupt
 * @process: number of its process
 * @listed: the thread is in the list of its process, because it has neither ended nor recorded its
 *	exit
 * @next: next thread in that list
 * @previous: previous thread in that list
 * @start: the state in which the thread was blocked when recording started; NULL if it was not, or
 *	if it has had an event since
 * @blocked: time when its last wait began; 0 if the thread is not known to be blocked
 * @futex: the futex in its last event, if that was a futex_wait; otherwise futex.place is 0
 * @wait: the futex of its last wait, or futex.place 0
 */
struct summary {
	struct states_thread pub;
	bool alive;
	uint64_t born;
	bool exiting;
	uint64_t exited;
	uint64_t gaps;
	uint32_t place;
	bool fault;
	uint32_t waits_in;
	uint64_t runs_since;
	uint64_t interrupts;
	uint64_t interrupted;
	uint32_t process;
	bool listed;
	uint32_t next;
	uint32_t previous;
	const struct posixtrace_thread_state *start;
	uint64_t blocked;
	struct futex futex;
	struct futex wait;
};

struct states {
	unsigned int classes;
	struct threads *numbers;	/* thread numbers */
	struct summary *threads;	/* index: thread number minus 1 */
	struct states_thread *results;	/* valid after states_end() */
	size_t nr_threads;
	size_t threads_room;
	bool more;
	struct threads *process_numbers;
	uint32_t *processes;		/* index: process number; first thread in the list */
	size_t processes_room;
	struct intervals *intervals;
	struct waits *waits;
	struct locks *locks;
	struct latest *latest;		/* finds the number of the last thread with given ids */
	struct lock_wait *lock_wait;
	bool begun;
	uint64_t first;
	uint64_t now;			/* largest time so far */
	uint64_t lost;
	uint64_t gaps;
	enum waker_kind no_waker;	/* kind of waker if no event tells it */
	struct source *source;		/* the source of the states in @walk */
	struct snapshot_walk walk;	/* position in the states at the start */
};

/*
 * states_find_thread() - find the thread of an event, or begin its life at time @at; NULL if there
 * are too many threads
 *
 * Return: 0 or -ENOMEM.
 */
int states_find_thread(struct states *states, const struct event *event, uint64_t at,
		       struct summary **found);

uint32_t states_number_of(const struct states *states, const struct summary *thread);

/* states_interval_of() - get the interval in which the thread is now */
const struct interval *states_interval_of(const struct states *states,
					  const struct summary *thread);

/* states_unlink_thread() - remove a thread from the list of its process, if it is there */
void states_unlink_thread(struct states *states, struct summary *thread);

/* states_end_life() - note that a thread has ended */
void states_end_life(struct states *states, struct summary *thread, uint64_t at);

#endif /* POSIXTRACE_STATES_THREADS_H */
