// SPDX-License-Identifier: GPL-2.0
/*
 * A period of time divided into parts: see parts.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/parts.h"
#include "util/hash.h"

struct parts {
	struct part *at;
	size_t count;
	size_t room;
	uint32_t *slots;		/* hash table: index of a part plus 1, or 0 */
	size_t nr_slots;		/* a power of two; more than half of the slots are empty */
	struct step *steps;
	size_t nr_steps;
	size_t steps_room;
	bool steps_more;
};

static bool is_same(const struct part *a, const struct part *b)
{
	return a->parent == b->parent && a->kind == b->kind && a->thread == b->thread &&
	       a->other == b->other && a->holder == b->holder && a->place == b->place &&
	       a->by == b->by &&
	       a->letter == b->letter && a->io == b->io && a->fault == b->fault &&
	       a->has_arg == b->has_arg && a->arg == b->arg && a->preempted == b->preempted &&
	       a->caused == b->caused;
}

static uint64_t hash(const struct part *part)
{
	uint64_t hash = hash_pair(part->parent, (uint64_t)part->kind << 32 | part->thread);

	hash = hash_pair(hash, (uint64_t)part->other << 32 | part->place);
	hash = hash_pair(hash, part->holder);
	return hash_pair(hash, part->arg);
}

/* Finds the slot of a part in the hash table. If the part is new, returns the free slot for it. */
static uint32_t *find_slot(const struct parts *parts, const struct part *what)
{
	for (uint64_t i = hash(what);; i++) {
		uint32_t *slot = &parts->slots[i & (parts->nr_slots - 1)];

		if (!*slot || is_same(&parts->at[*slot - 1], what))
			return slot;
	}
}

static int grow(struct parts *parts)
{
	size_t room = parts->room ? 2 * parts->room : 32;
	struct part *more = reallocarray(parts->at, room, sizeof(*more));
	uint32_t *slots = calloc(2 * room, sizeof(*slots));

	if (more)
		parts->at = more;
	if (!more || !slots) {
		free(slots);
		return -ENOMEM;
	}
	parts->room = room;
	free(parts->slots);
	parts->slots = slots;
	parts->nr_slots = 2 * room;
	for (size_t i = 0; i < parts->count; i++)
		*find_slot(parts, &parts->at[i]) = (uint32_t)i + 1;
	return 0;
}

/* Adds a part without time. */
static int add(struct parts *parts, const struct part *what, uint32_t *number)
{
	struct part *new;
	int err = parts->count == parts->room ? grow(parts) : 0;

	if (err)
		return err;
	*number = (uint32_t)parts->count++;
	new = &parts->at[*number];
	*new = *what;
	new->child = PARTS_NONE;
	new->next = PARTS_NONE;
	if (what->parent != PARTS_NONE) {
		new->next = parts->at[what->parent].child;
		parts->at[what->parent].child = *number;
	}
	*find_slot(parts, new) = *number + 1;
	return 0;
}

int parts_new(struct parts **parts)
{
	const struct part whole = { .kind = PART_WHOLE, .parent = PARTS_NONE };
	struct parts *new = calloc(1, sizeof(*new));
	uint32_t number;
	int err;

	if (!new)
		return -ENOMEM;
	err = add(new, &whole, &number);
	if (err)
		parts_free(new);
	else
		*parts = new;
	return err;
}

void parts_free(struct parts *parts)
{
	if (!parts)
		return;
	free(parts->at);
	free(parts->slots);
	free(parts->steps);
	free(parts);
}

/* Finds or adds the part that stands for @what. */
static int find(struct parts *parts, uint32_t parent, const struct part *what, uint32_t *found)
{
	const struct part more = { .kind = PART_MORE, .parent = parent };
	struct part key = *what;
	uint32_t slot;

	key.parent = parent;
	key.ns = 0;
	key.count = 0;
	key.longest = 0;
	key.longest_at = 0;
	key.faults = 0;
	slot = *find_slot(parts, &key);
	if (!slot && parts->count >= PARTS_MAX) {
		key = more;
		slot = *find_slot(parts, &key);
	}
	if (!slot)
		return add(parts, &key, found);
	*found = slot - 1;
	return 0;
}

int parts_add(struct parts *parts, uint32_t parent, const struct part *what, uint64_t begin,
	      uint64_t end, uint32_t *found)
{
	struct part *part;
	int err = 0;

	/* PART_MORE has no children, so add the time to PART_MORE itself. */
	if (parent != PARTS_NONE && parts->at[parent].kind == PART_MORE) {
		*found = parent;
		return 0;
	}
	if (parent == PARTS_NONE)
		*found = 0;
	else
		err = find(parts, parent, what, found);
	if (err)
		return err;
	part = &parts->at[*found];
	part->ns += end - begin;
	part->count++;
	if (end - begin > part->longest) {
		part->longest = end - begin;
		part->longest_at = begin;
	}
	return 0;
}

void parts_add_faults(struct parts *parts, uint32_t part, uint64_t count)
{
	parts->at[part].faults += count;
}

int parts_step(struct parts *parts, uint32_t part, uint64_t begin, uint64_t end)
{
	size_t room = parts->steps_room ? 2 * parts->steps_room : 64;
	struct step *last = parts->nr_steps ? &parts->steps[parts->nr_steps - 1] : NULL;
	struct step *more;

	if (begin == end || parts->steps_more)
		return 0;
	if (last && last->part == part && last->end == begin) {
		last->end = end;
		return 0;
	}
	if (parts->nr_steps == PARTS_STEPS) {
		parts->steps_more = true;
		return 0;
	}
	if (parts->nr_steps == parts->steps_room) {
		more = reallocarray(parts->steps, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		parts->steps = more;
		parts->steps_room = room;
	}
	parts->steps[parts->nr_steps++] = (struct step){ begin, end, part };
	return 0;
}

const struct part *parts_all(const struct parts *parts, size_t *count)
{
	*count = parts->count;
	return parts->at;
}

const struct step *parts_steps(const struct parts *parts, size_t *count, bool *more)
{
	*count = parts->nr_steps;
	*more = parts->steps_more;
	return parts->steps;
}

static int is_shorter(const void *a, const void *b, void *arg)
{
	const struct parts *parts = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (parts->at[x].ns != parts->at[y].ns)
		return parts->at[x].ns < parts->at[y].ns ? 1 : -1;
	return x < y ? -1 : x > y;
}

uint32_t *parts_sorted(const struct parts *parts, uint32_t part, size_t *count)
{
	uint32_t *sorted;
	size_t i = 0;

	*count = 0;
	for (uint32_t child = parts->at[part].child; child != PARTS_NONE;
	     child = parts->at[child].next)
		++*count;
	sorted = calloc(*count + 1, sizeof(*sorted));
	if (!sorted)
		return NULL;
	for (uint32_t child = parts->at[part].child; child != PARTS_NONE;
	     child = parts->at[child].next)
		sorted[i++] = child;
	qsort_r(sorted, *count, sizeof(*sorted), is_shorter, (void *)parts);
	return sorted;
}
