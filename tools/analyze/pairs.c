// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of begin and end: see pairs.h.
 *
 * Each thread that has open begins has a stack of them. A hash table finds the thread. A list of
 * all open begins, sorted by age, yields the oldest one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/pairs.h"
#include "util/hash.h"

#define BUCKETS	4096U	/* a power of two */

struct pairs_thread {
	struct pairs_thread *next;	/* next thread in the bucket */
	struct begin *top;
	struct begin *bottom;
	size_t depth;
	uint64_t id;
	pid_t pid;
};

struct begin {
	struct pairs_begin pub;		/* first */
	struct pairs_thread *thread;
	struct begin *below;		/* next older begin of the same thread */
	struct begin *above;		/* next younger begin of the same thread */
	struct begin *older;		/* next older begin of any thread */
	struct begin *younger;		/* next younger begin of any thread */
	uint64_t number;		/* unique number, from 1 */
	uint64_t gaps;			/* value of pairs.gaps at this begin */
	size_t counted;			/* bytes of pub.held that are included in pairs.held */
	char kind;			/* separator in the name: '_' or ':' */
	size_t stem_len;
	char stem[PAIRS_NAME_MAX];
	char name[PAIRS_NAME_MAX];
	unsigned char data[PAIRS_DATA_MAX];
};

struct pairs {
	struct pairs_thread *buckets[BUCKETS];
	struct begin *oldest;
	struct begin *youngest;
	struct begin *given;		/* begin that was returned last; the next call frees it */
	struct begin *spare;		/* memory for the next begin, or NULL */
	struct begin *holder;		/* the begin whose buffer pairs_hold() returned last */
	uint64_t last_number;
	uint64_t gaps;			/* number of places so far where events may be missing */
	size_t held;			/* bytes in the buffers of all begins */
	size_t open;
	size_t max_open;
	size_t max_depth;
};

static const struct {
	const char *suffix;
	enum pairs_role role;
} suffixes[] = {
	{ "_begin", PAIRS_BEGIN },
	{ ":begin", PAIRS_BEGIN },
	{ "_end", PAIRS_END },
	{ ":end", PAIRS_END },
};

enum pairs_role pairs_role(const char *name, size_t *stem_len)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t suffix = strlen(suffixes[i].suffix);

		if (len <= suffix || len - suffix >= PAIRS_NAME_MAX ||
		    memcmp(name + len - suffix, suffixes[i].suffix, suffix) != 0)
			continue;
		*stem_len = len - suffix;
		return suffixes[i].role;
	}
	return PAIRS_NONE;
}

int pairs_new(size_t max_open, size_t max_depth, struct pairs **pairs)
{
	*pairs = calloc(1, sizeof(**pairs));
	if (!*pairs)
		return -ENOMEM;
	(*pairs)->max_open = max_open;
	(*pairs)->max_depth = max_depth;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Threads								*/

static struct pairs_thread **find_bucket(struct pairs *pairs, pid_t pid, uint64_t id)
{
	return &pairs->buckets[hash_pair(id, (uint64_t)pid) & (BUCKETS - 1)];
}

static struct pairs_thread *find_thread(struct pairs *pairs, pid_t pid, uint64_t id)
{
	struct pairs_thread *thread = *find_bucket(pairs, pid, id);

	while (thread && (thread->pid != pid || thread->id != id))
		thread = thread->next;
	return thread;
}

static struct pairs_thread *add_thread(struct pairs *pairs, pid_t pid, uint64_t id)
{
	struct pairs_thread **bucket = find_bucket(pairs, pid, id);
	struct pairs_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->pid = pid;
	thread->id = id;
	thread->next = *bucket;
	*bucket = thread;
	return thread;
}

static void remove_thread(struct pairs *pairs, struct pairs_thread *thread)
{
	struct pairs_thread **link = find_bucket(pairs, thread->pid, thread->id);

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	free(thread);
}

/* ------------------------------------------------------------------ */
/* Open begins								*/

/* Counts the bytes that the caller has appended to the buffer that pairs_hold() returned last. */
static void count_held(struct pairs *pairs)
{
	struct begin *holder = pairs->holder;

	if (!holder)
		return;
	pairs->held += holder->pub.held.room - holder->counted;
	holder->counted = holder->pub.held.room;
	pairs->holder = NULL;
}

/* Removes @begin from all lists, and its thread if it was the last one. The caller owns @begin. */
static struct begin *take(struct pairs *pairs, struct begin *begin)
{
	struct pairs_thread *thread = begin->thread;

	count_held(pairs);
	pairs->held -= begin->counted;
	if (begin->above)
		begin->above->below = begin->below;
	else
		thread->top = begin->below;
	if (begin->below)
		begin->below->above = begin->above;
	else
		thread->bottom = begin->above;
	if (begin->younger)
		begin->younger->older = begin->older;
	else
		pairs->youngest = begin->older;
	if (begin->older)
		begin->older->younger = begin->younger;
	else
		pairs->oldest = begin->younger;
	pairs->open--;
	if (--thread->depth == 0)
		remove_thread(pairs, thread);
	return begin;
}

static const struct pairs_begin *give(struct pairs *pairs, struct begin *begin)
{
	pairs->given = begin;
	return &begin->pub;
}

static void forget_given(struct pairs *pairs)
{
	if (!pairs->given)
		return;
	buffer_free(&pairs->given->pub.held);
	if (pairs->spare)
		free(pairs->given);
	else
		pairs->spare = pairs->given;
	pairs->given = NULL;
}

static void push(struct pairs *pairs, struct pairs_thread *thread, struct begin *begin)
{
	begin->thread = thread;
	begin->number = ++pairs->last_number;
	begin->gaps = pairs->gaps;
	begin->pub.depth = thread->depth;
	begin->above = NULL;
	begin->below = thread->top;
	if (thread->top)
		thread->top->above = begin;
	else
		thread->bottom = begin;
	thread->top = begin;
	thread->depth++;

	begin->younger = NULL;
	begin->older = pairs->youngest;
	if (pairs->youngest)
		pairs->youngest->younger = begin;
	else
		pairs->oldest = begin;
	pairs->youngest = begin;
	pairs->open++;
}

static struct begin *new_begin(struct pairs *pairs, const struct event *event, size_t stem_len)
{
	struct begin *begin = pairs->spare ? pairs->spare : malloc(sizeof(*begin));
	size_t name_len = strlen(event->name), kept = event->len;

	pairs->spare = NULL;
	if (!begin)
		return NULL;
	if (name_len >= PAIRS_NAME_MAX)
		name_len = PAIRS_NAME_MAX - 1;
	if (kept > PAIRS_DATA_MAX)
		kept = PAIRS_DATA_MAX;
	memcpy(begin->name, event->name, name_len);
	begin->name[name_len] = '\0';
	memcpy(begin->stem, event->name, stem_len);
	begin->stem[stem_len] = '\0';
	begin->stem_len = stem_len;
	begin->kind = event->name[stem_len];
	if (kept)
		memcpy(begin->data, event->data, kept);
	begin->pub.event = *event;
	begin->pub.event.name = begin->name;
	begin->pub.event.data = begin->data;
	/* Check all of the data now, because only the first part of it is kept. */
	if (kept < event->len && !event_has_fields(event, event->len))
		begin->pub.event.description = NULL;
	begin->pub.event.len = kept;
	begin->pub.stem = begin->stem;
	begin->pub.data_len = event->len;
	begin->pub.held = (struct buffer){ };
	begin->pub.inner = 0;
	begin->pub.tangled = false;
	begin->pub.marked = false;
	begin->counted = 0;
	return begin;
}

static int open_pair(struct pairs *pairs, const struct event *event, size_t stem_len,
		     struct pairs_result *result)
{
	struct begin *begin = new_begin(pairs, event, stem_len), *old = NULL;
	struct pairs_thread *thread;

	if (!begin)
		return -ENOMEM;
	thread = find_thread(pairs, event->pid, event_thread_key(event));
	if (thread && thread->depth >= pairs->max_depth)
		old = thread->bottom;
	else if (pairs->open >= pairs->max_open)
		old = pairs->oldest;
	if (old) {
		result->forgotten = give(pairs, take(pairs, old));
		/* take() frees a thread whose last begin event it removes. */
		thread = find_thread(pairs, event->pid, event_thread_key(event));
	}
	if (!thread)
		thread = add_thread(pairs, event->pid, event_thread_key(event));
	if (!thread) {
		free(begin);
		return -ENOMEM;
	}
	push(pairs, thread, begin);
	return 0;
}

/* Checks if a duration that begins at @time can nest in the duration of an open begin. */
static bool can_nest(struct pairs *pairs, const struct begin *outer, uint64_t time)
{
	count_held(pairs);
	return !outer || outer->pub.event.time < time ||
	       (outer->pub.event.time == time && outer->pub.held.len < PAIRS_HELD_MAX &&
		pairs->held < PAIRS_HELD_ALL);
}

/* Adds the time of a pair to the pair around it. */
static void count_inner(struct begin *begin, const struct event *end, bool proper)
{
	struct begin *outer = begin->below;

	if (begin->above)
		begin->pub.tangled = true;
	if (outer && proper)
		outer->pub.inner += end->time - begin->pub.event.time;
	else if (outer)
		outer->pub.tangled = true;
}

static void close_pair(struct pairs *pairs, const struct event *event, size_t stem_len,
		       struct pairs_result *result)
{
	struct pairs_thread *thread = find_thread(pairs, event->pid, event_thread_key(event));
	struct begin *begin = thread ? thread->top : NULL;

	while (begin && (begin->stem_len != stem_len || begin->kind != event->name[stem_len] ||
			 memcmp(begin->stem, event->name, stem_len) != 0))
		begin = begin->below;
	if (!begin)
		return;
	result->proper = !begin->above && begin->pub.event.time <= event->time &&
			 can_nest(pairs, begin->below, begin->pub.event.time);
	if (event->lost > begin->pub.event.lost)
		result->lost = event->lost - begin->pub.event.lost;
	result->gap = begin->gaps != pairs->gaps;
	count_inner(begin, event, result->proper);
	result->begin = give(pairs, take(pairs, begin));
}

int pairs_event(struct pairs *pairs, const struct event *event, struct pairs_result *result)
{
	size_t stem_len;

	forget_given(pairs);
	*result = (struct pairs_result){ .role = PAIRS_NONE };
	if (event->user)
		result->role = pairs_role(event->name, &stem_len);
	else if (!event->partial)
		pairs->gaps += event->type == POSIX_TRACE_START ||
			       event->type == POSIX_TRACE_RESUME ||
			       event->type == POSIX_TRACE_ERROR;
	if (result->role == PAIRS_BEGIN)
		return open_pair(pairs, event, stem_len, result);
	if (result->role == PAIRS_END)
		close_pair(pairs, event, stem_len, result);
	return 0;
}

const struct pairs_begin *pairs_take(struct pairs *pairs)
{
	forget_given(pairs);
	if (!pairs->oldest)
		return NULL;
	return give(pairs, take(pairs, pairs->oldest));
}

struct pairs_begin *pairs_outer(struct pairs *pairs, pid_t pid, uint64_t id,
				const struct pairs_begin *inner)
{
	const struct pairs_thread *thread;
	struct begin *begin;

	if (inner) {
		begin = ((const struct begin *)inner)->below;
	} else {
		thread = find_thread(pairs, pid, id);
		begin = thread ? thread->top : NULL;
	}
	return begin ? &begin->pub : NULL;
}

uint64_t pairs_top(struct pairs *pairs, pid_t pid, uint64_t id)
{
	const struct pairs_thread *thread = find_thread(pairs, pid, id);

	return thread ? thread->top->number : 0;
}

struct buffer *pairs_hold(struct pairs *pairs, pid_t pid, uint64_t id, uint64_t time)
{
	const struct pairs_thread *thread = find_thread(pairs, pid, id);
	struct begin *outer = thread ? thread->top : NULL;

	if (!outer || outer->pub.event.time != time || !can_nest(pairs, outer, time))
		return NULL;
	pairs->holder = outer;
	return &outer->pub.held;
}

size_t pairs_open(const struct pairs *pairs)
{
	return pairs->open;
}

void pairs_free(struct pairs *pairs)
{
	if (!pairs)
		return;
	while (pairs_take(pairs))
		;
	forget_given(pairs);
	free(pairs->spare);
	free(pairs);
}
