// SPDX-License-Identifier: GPL-2.0
/*
 * The threads of "posixtrace top": see threads.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/holder.h"
#include "print/state_text.h"
#include "top/threads.h"
#include "util/escape.h"

struct top_threads {
	struct snapshot *snapshot;
	struct top_thread *threads;
	size_t count;
	struct call_context call;
	struct lock_wait *lock_wait;
};

int top_threads_new(struct top_threads **threads)
{
	int err;

	*threads = calloc(1, sizeof(**threads));
	if (!*threads)
		return -ENOMEM;
	err = lock_wait_new(&(*threads)->lock_wait);
	if (err) {
		free(*threads);
		*threads = NULL;
	}
	return err;
}

static void empty(struct top_threads *threads)
{
	snapshot_free(threads->snapshot);
	free(threads->threads);
	threads->snapshot = NULL;
	threads->threads = NULL;
	threads->count = 0;
}

void top_threads_free(struct top_threads *threads)
{
	if (!threads)
		return;
	empty(threads);
	lock_wait_free(threads->lock_wait);
	free(threads);
}

static void fill(struct top_thread *thread, const struct posixtrace_thread_state *state,
		 struct top_model *model)
{
	const uint64_t since = snapshot_ns(&state->since), now = snapshot_ns(&state->time);

	thread->state = state;
	interval_of_state(state, &thread->interval);
	thread->events = top_model_thread(model, state->pid, state->tid, &thread->total);
	if (since && since < now && thread->interval.state != STATE_UNKNOWN)
		thread->length = now - since;
}

static int compare_ids(const struct top_thread *x, const struct top_thread *y)
{
	if (x->state->pid != y->state->pid)
		return x->state->pid < y->state->pid ? -1 : 1;
	return x->state->tid < y->state->tid ? -1 : x->state->tid > y->state->tid;
}

struct order {
	enum top_thread_order by;
	bool reverse;
};

static int compare(const void *a, const void *b, void *arg)
{
	const struct top_thread *x = a, *y = b;
	const struct order *order = arg;
	uint64_t left = 0, right = 0;
	int result;

	if (order->by == TOP_THREADS_BY_EVENTS) {
		left = x->events;
		right = y->events;
	} else if (order->by == TOP_THREADS_BY_TIME) {
		left = x->length;
		right = y->length;
	}
	result = left != right ? (left < right ? 1 : -1) : compare_ids(x, y);
	return order->reverse ? -result : result;
}

void top_threads_sort(struct top_threads *threads, enum top_thread_order by, bool reverse)
{
	struct order order = { by, reverse };

	if (threads->count)
		qsort_r(threads->threads, threads->count, sizeof(*threads->threads), compare,
			&order);
}

int top_threads_read(struct top_threads *threads, struct source *source, struct top_model *model)
{
	const struct posixtrace_thread_state *state;
	size_t count;
	int err;

	empty(threads);
	err = snapshot_read(source, &threads->snapshot);
	if (err)
		return err;
	state = snapshot_get(threads->snapshot, &count);
	threads->threads = calloc(count + 1, sizeof(*threads->threads));
	if (!threads->threads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		fill(&threads->threads[i], &state[i], model);
	threads->count = count;
	return 0;
}

const struct top_thread *top_threads_get(const struct top_threads *threads, size_t *count)
{
	*count = threads->count;
	return threads->threads;
}

/* Appends the holder of the lock, if the process has a thread with the holder's id. */
static void put_holder(struct top_threads *threads, const struct top_thread *thread,
		       struct source *source, struct buffer *to)
{
	const struct posixtrace_thread_state *state = thread->state;
	struct holder_words words;
	struct event event;
	pid_t tid;

	if (!snapshot_futex(state, &words) || snapshot_event(source, state, &event))
		return;
	tid = holder_find(threads->lock_wait, &event, &words);
	for (size_t i = 0; tid && i < threads->count; i++) {
		state = threads->threads[i].state;
		if (state->pid != thread->state->pid || state->tid != tid)
			continue;
		buffer_text(to, ", held by ");
		escape_plain(to, state->name, strnlen(state->name, sizeof(state->name)));
		buffer_printf(to, "-%d", (int)tid);
	}
}

void top_threads_place(struct top_threads *threads, const struct top_thread *thread,
		       struct source *source, struct buffer *to)
{
	state_text_place(to, &threads->call, source, thread->state, NULL, NULL);
	put_holder(threads, thread, source, to);
}
