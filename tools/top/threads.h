/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The threads of "posixtrace top": gets from the kernel what each of them is doing when an interval
 * ends.
 */
#ifndef POSIXTRACE_TOP_THREADS_H
#define POSIXTRACE_TOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/intervals.h"
#include "analyze/snapshot.h"
#include "event/source.h"
#include "print/call_text.h"
#include "top/model.h"

enum top_thread_order {
	TOP_THREADS_BY_EVENTS,
	TOP_THREADS_BY_TIME,
	TOP_THREADS_BY_ID,
	TOP_THREAD_ORDERS
};

/**
 * struct top_thread - a thread
 * @state: state from the kernel
 * @interval: the same state; only the members that interval_of_state() sets
 * @length: ns for which it has been in that state; 0: unknown
 * @events: number of its events in the last interval
 * @total: number of its events in total
 */
struct top_thread {
	const struct posixtrace_thread_state *state;
	struct interval interval;
	uint64_t length;
	uint64_t events;
	uint64_t total;
};

struct top_threads;

/* top_threads_new() - create an empty table; returns 0 or -ENOMEM */
int top_threads_new(struct top_threads **threads);

/*
 * top_threads_read() - read the states from the kernel and the counts from the model; returns 0 or
 * a negative error number
 */
int top_threads_read(struct top_threads *threads, struct source *source, struct top_model *model);

/* top_threads_sort() - sort the threads */
void top_threads_sort(struct top_threads *threads, enum top_thread_order order, bool reverse);

/* top_threads_get() - get the threads and their number */
const struct top_thread *top_threads_get(const struct top_threads *threads, size_t *count);

/**
 * top_threads_place() - append where a thread that is not running is, and who holds the lock for
 * which it waits
 * @threads: from top_threads_read()
 * @thread: a thread from top_threads_get()
 * @source: the stream
 * @to: where to append
 */
void top_threads_place(struct top_threads *threads, const struct top_thread *thread,
		       struct source *source, struct buffer *to);

void top_threads_free(struct top_threads *threads);

#endif /* POSIXTRACE_TOP_THREADS_H */
