/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of events that mark a begin and an end: "X_begin" and "X_end", or "X:begin" and "X:end",
 * of one thread. Pairs of the same stem nest like brackets.
 *
 * Only open begins are kept. Their number is limited: beyond the limit, the oldest is given up.
 */
#ifndef POSIXTRACE_PAIRS_H
#define POSIXTRACE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/source.h"
#include "util/buffer.h"

#define PAIRS_NAME_MAX	64	/* bytes of a stem, including the null byte */
#define PAIRS_DATA_MAX	256	/* bytes kept of the data of a begin */
#define PAIRS_HELD_MAX	(64U << 10)	/* bytes held for a begin, before the last thing */
#define PAIRS_HELD_ALL	(16U << 20)	/* bytes held for all begins */

enum pairs_role {
	PAIRS_NONE,
	PAIRS_BEGIN,
	PAIRS_END,
};

/**
 * struct pairs_begin - the begin of a pair, kept until its end
 * @event: the event, with the part of its data that was kept
 * @stem: the part of the name that begin and end share
 * @data_len: number of bytes of data that the event had, perhaps more than were kept
 * @held: from pairs_hold(): write it after the begin
 */
struct pairs_begin {
	struct event event;
	const char *stem;
	size_t data_len;
	struct buffer held;
};

/**
 * struct pairs_result - the part that an event plays
 * @role: begin, end, or none
 * @begin: for an end: its begin, or NULL if there is none; valid until the next call
 * @proper: for an end with a begin: the pair is nested properly. The thread has no open begin
 *	that is younger, and an open begin around the pair has no later time
 * @lost: for an end with a begin: number of user events lost in between, so the two might not
 *	belong together
 * @forgotten: for a begin: an older begin that was given up, or NULL; valid until the next call
 */
struct pairs_result {
	enum pairs_role role;
	const struct pairs_begin *begin;
	bool proper;
	uint64_t lost;
	const struct pairs_begin *forgotten;
};

struct pairs;

/**
 * pairs_role() - get the role of an event from its name
 * @name: name of the event type
 * @stem_len: where to store the length of the stem
 *
 * "_begin" alone has no stem, so it is not a begin.
 *
 * Return: the role.
 */
enum pairs_role pairs_role(const char *name, size_t *stem_len);

/**
 * pairs_new() - create an empty set of open begins
 * @max_open: limit of open begins of all threads
 * @max_depth: limit of open begins of one thread
 * @pairs: where to store the set
 *
 * Return: 0, or -ENOMEM.
 */
int pairs_new(size_t max_open, size_t max_depth, struct pairs **pairs);

/**
 * pairs_event() - process an event; events must come in the order of the log
 * @pairs: from pairs_new()
 * @event: any event
 * @result: where to store the part that it plays
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
 * Return: the begin, valid until the next call, or NULL if none is open.
 */
const struct pairs_begin *pairs_take(struct pairs *pairs);

/**
 * pairs_top() - get the youngest open begin of a thread
 * @pairs: from pairs_new()
 * @pid: process of the thread
 * @thread: event_thread_key() of the thread
 *
 * If it is the same before and after something else, that nests in the durations of the thread.
 *
 * Return: a number that no other begin has, or 0 if none is open.
 */
uint64_t pairs_top(struct pairs *pairs, pid_t pid, uint64_t thread);

/**
 * pairs_hold() - get a place for a duration that begins at the same time as the one around it
 * @pairs: from pairs_new()
 * @pid: process of the thread
 * @thread: event_thread_key() of the thread
 * @time: begin of a duration of the thread that has ended
 *
 * Readers take the first one in the file for the outer one.
 *
 * Return: a buffer to append to before the next call. Its user gets it with the youngest open begin
 * of the thread. NULL if that begin has another time, if there is none, or if too much is held.
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
