/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of events that mark the begin and end of a scope in one thread: "X_begin" and "X_end", or
 * "X:begin" and "X:end". The common part of the names is the stem. Pairs with the same stem nest
 * like brackets.
 *
 * Only open begins are kept. If there are too many, the oldest is dropped.
 */
#ifndef POSIXTRACE_PAIRS_H
#define POSIXTRACE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/source.h"
#include "util/buffer.h"

#define PAIRS_NAME_MAX	64	/* bytes of a stem, with the null byte */
#define PAIRS_DATA_MAX	256	/* bytes kept of the data of a begin */
#define PAIRS_HELD_MAX	(64U << 10)	/* limit for one begin, plus one item */
#define PAIRS_HELD_ALL	(16U << 20)	/* limit of bytes held for all begins */

enum pairs_role {
	PAIRS_NONE,
	PAIRS_BEGIN,
	PAIRS_END,
};

/**
 * struct pairs_begin - the begin of a pair, kept until its end
 * @event: the event, with the part of its data that was kept
 * @stem: the common part of the names of begin and end
 * @data_len: number of bytes of data that the event originally had
 * @held: buffer from pairs_hold(): the caller writes its contents after this begin
 * @depth: number of open begins of the thread when it began
 * @inner: ns in pairs that nested directly in it so far
 * @tangled: not all pairs in it nested, so @inner is not valid
 * @marked: for the caller: see pairs_outer()
 */
struct pairs_begin {
	struct event event;
	const char *stem;
	size_t data_len;
	struct buffer held;
	size_t depth;
	uint64_t inner;
	bool tangled;
	bool marked;
};

/**
 * struct pairs_result - the role of an event
 * @role: begin, end, or neither
 * @begin: for an end: its begin, or NULL if it is missing; valid until the next call
 * @proper: for an end with a begin: the pair nests properly, because its begin is the newest one of
 *	the thread and no begin around it has a later time
 * @lost: for an end with a begin: number of user events lost between the two; if not 0, they may
 *	not belong together
 * @gap: for an end with a begin: recording was interrupted or the log is damaged between the two,
 *	so an unknown number of events may be missing
 * @forgotten: for a begin: an older begin that was dropped, or NULL; valid until the next call
 */
struct pairs_result {
	enum pairs_role role;
	const struct pairs_begin *begin;
	bool proper;
	uint64_t lost;
	bool gap;
	const struct pairs_begin *forgotten;
};

struct pairs;

/**
 * pairs_role() - derive the role of an event from its name
 * @name: name of the event type
 * @stem_len: where to store the length of the stem
 *
 * "_begin" alone is not a begin, because it lacks a stem.
 *
 * Return: the role.
 */
enum pairs_role pairs_role(const char *name, size_t *stem_len);

/**
 * pairs_new() - create an empty set of open begins
 * @max_open: limit of open begins of all threads
 * @max_depth: limit of open begins of each thread
 * @pairs: where to store the set
 *
 * Return: 0, or -ENOMEM.
 */
int pairs_new(size_t max_open, size_t max_depth, struct pairs **pairs);

/**
 * pairs_event() - process an event
 * @pairs: from pairs_new()
 * @event: any event, in the order of the log
 * @result: where to store its role
 *
 * Return: 0, or -ENOMEM.
 */
int pairs_event(struct pairs *pairs, const struct event *event, struct pairs_result *result);

/**
 * pairs_take() - remove the oldest open begin
 * @pairs: from pairs_new()
 *
 * Call it after the last event until it returns NULL.
 *
 * Return: the begin, valid until the next call, or NULL if all have been removed.
 */
const struct pairs_begin *pairs_take(struct pairs *pairs);

/**
 * pairs_outer() - go through the open begins of a thread, the newest first
 * @pairs: from pairs_new()
 * @pid: process of the thread
 * @thread: event_thread_key() of the thread
 * @inner: NULL, or the last result
 *
 * Return: the begin, valid until the next pairs_event(); NULL if there are no more. The caller may
 * set its @marked.
 */
struct pairs_begin *pairs_outer(struct pairs *pairs, pid_t pid, uint64_t thread,
				const struct pairs_begin *inner);

/**
 * pairs_top() - identify the newest open begin of a thread
 * @pairs: from pairs_new()
 * @pid: process of the thread
 * @thread: event_thread_key() of the thread
 *
 * Use this to check if some other duration nests properly in the pairs of the thread: it does if
 * the result is the same at the start and at the end of the duration.
 *
 * Return: a unique number of the begin, or 0 without an open begin.
 */
uint64_t pairs_top(struct pairs *pairs, pid_t pid, uint64_t thread);

/**
 * pairs_hold() - get a buffer for a duration that begins together with its enclosing duration
 * @pairs: from pairs_new()
 * @pid: process of the thread
 * @thread: event_thread_key() of the thread
 * @time: start of the inner duration, which has already ended
 *
 * If two durations begin at the same time, programs that read the exported file take the first one
 * in the file as the outer one. But the inner one ends first. It must therefore wait in the buffer
 * until the outer one has been written.
 *
 * Return: pairs_begin.held of the enclosing duration, which is the newest open begin of the thread;
 *	append the inner duration before the next call. NULL if the enclosing duration does not
 *	exist or begins at another time, or if too much is held.
 */
struct buffer *pairs_hold(struct pairs *pairs, pid_t pid, uint64_t thread, uint64_t time);

/**
 * pairs_open() - count the open begins
 * @pairs: from pairs_new()
 *
 * Return: the number of begins without an end so far.
 */
size_t pairs_open(const struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif /* POSIXTRACE_PAIRS_H */
