/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of events that tell of a beginning and an end: "X_begin" and "X_end", or "X:begin"
 * and "X:end", of one thread. Nested ones of the same stem belong together as brackets do.
 *
 * What is open is kept, and nothing else. There is a bound: who begins for ever and never
 * ends loses the oldest of what is open.
 */
#ifndef POSIXTRACE_PAIRS_H
#define POSIXTRACE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source.h"

#define PAIRS_NAME_MAX	64	/* bytes of a stem, with the null byte */
#define PAIRS_DATA_MAX	256	/* bytes of the data of a begin that are kept */

enum pairs_role {
	PAIRS_NONE,
	PAIRS_BEGIN,
	PAIRS_END,
};

/**
 * struct pairs_begin - the beginning of a pair, kept until its end
 * @event: as it was; its name is the whole name of the event type, its data are what was
 *	kept of them
 * @stem: what the names of begin and end have in common
 * @data_len: bytes of data that the event had, perhaps more than were kept
 */
struct pairs_begin {
	struct event event;
	const char *stem;
	size_t data_len;
};

/**
 * struct pairs_result - what an event meant
 * @role: of the event: begin, end, or none of a pair
 * @begin: of an end: its begin, or NULL if there was none. Good until the next call
 * @proper: of an end with a begin: nothing that the thread has begun since is open, and
 *	what is open around it began earlier: such pairs of a thread are nested
 * @lost: of an end with a begin: user events of the stream that were lost in between, so
 *	that the two might not belong together
 * @forgotten: of a begin: an older one that is not remembered any more, or NULL. Good
 *	until the next call
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
 * pairs_role() - which part an event plays, by its name
 * @name: of the event type
 * @stem_len: where to put the length of the stem
 *
 * "_begin" alone has no stem, and is no begin.
 */
enum pairs_role pairs_role(const char *name, size_t *stem_len);

/**
 * pairs_new() - nothing is open yet
 * @max_open: how many begins are remembered, of all threads
 * @max_depth: how many of one thread
 * @pairs: where to put it
 *
 * Return: 0, or -ENOMEM.
 */
int pairs_new(size_t max_open, size_t max_depth, struct pairs **pairs);

/**
 * pairs_event() - one event more, in the order of time
 * @pairs: of pairs_new()
 * @event: any event
 * @result: where to put what it meant
 *
 * Return: 0, or -ENOMEM.
 */
int pairs_event(struct pairs *pairs, const struct event *event, struct pairs_result *result);

/**
 * pairs_take() - take the oldest begin that has no end yet
 * @pairs: of pairs_new()
 *
 * At the end of all events, until it returns NULL.
 *
 * Return: the begin, good until the next call, or NULL if nothing is open.
 */
const struct pairs_begin *pairs_take(struct pairs *pairs);

/**
 * pairs_open() - how many begins have no end yet
 * @pairs: of pairs_new()
 */
size_t pairs_open(const struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif /* POSIXTRACE_PAIRS_H */
