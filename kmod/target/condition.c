// SPDX-License-Identifier: GPL-2.0
/*
 * The conditions of streams on events: finds the event types that they name, and shows them in the
 * gates of traced processes. The library compares, and stream/trigger.c notes what was met.
 */
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/string.h>

#include "target/condition.h"
#include "target/gate.h"
#include "target/generation.h"
#include "target/image.h"
#include "target/table.h"
#include "target/target.h"

/* Is the name terminated, and followed by zeros only? */
static bool name_valid(const char name[POSIXTRACE_EVENT_NAME_SIZE])
{
	size_t len = strnlen(name, POSIXTRACE_EVENT_NAME_SIZE);

	return len < POSIXTRACE_EVENT_NAME_SIZE &&
	       !memchr_inv(name + len, 0, POSIXTRACE_EVENT_NAME_SIZE - len);
}

/**
 * pxt_conditions_valid() - check conditions of a controller
 * @conditions: private copy; their number is valid
 *
 * Return: false if a name, a threshold or a reserved member is not valid.
 */
bool pxt_conditions_valid(const struct pxt_conditions *conditions)
{
	const struct posixtrace_condition *condition = conditions->condition;
	const struct posixtrace_condition *end = condition + conditions->count;

	for (; condition < end; condition++) {
		if (condition->reserved || !condition->end[0] || !name_valid(condition->end) ||
		    !name_valid(condition->begin) ||
		    (condition->threshold && !condition->begin[0]))
			return false;
	}
	return true;
}

static bool names(const struct pxt_conditions *conditions, const char *name)
{
	u32 i;

	for (i = 0; i < conditions->count; i++) {
		if (!strcmp(conditions->condition[i].begin, name) ||
		    !strcmp(conditions->condition[i].end, name))
			return true;
	}
	return false;
}

/**
 * pxt_conditions_begin() - find the event types that new conditions name
 * @conditions: not in use yet
 * @table: its lock is held
 */
void pxt_conditions_begin(struct pxt_conditions *conditions, const struct pxt_table *table)
{
	const struct pxt_type *type;

	lockdep_assert_held(&table->lock);
	if (names(conditions, POSIXTRACE_UNNAMED_NAME))
		conditions->types.bits[POSIXTRACE_ID_UNNAMED / 64] |=
			BIT_ULL(POSIXTRACE_ID_UNNAMED % 64);
	list_for_each_entry(type, &table->types, node)
		pxt_conditions_learn(conditions, type);
}

/**
 * pxt_conditions_learn() - note an event type
 * @conditions: of a stream; the lock of its table is held, or they are not in use yet
 * @type: type of that table
 *
 * Return: true if a condition names it.
 */
bool pxt_conditions_learn(struct pxt_conditions *conditions, const struct pxt_type *type)
{
	if (!names(conditions, type->name))
		return false;
	conditions->types.bits[type->id / 64] |= BIT_ULL(type->id % 64);
	return true;
}

/*
 * Find the event type of a name. The program of the process may know another type of this name than
 * other programs do. Without any, the process cannot record it, so it does not matter which one.
 * Returns 0 if there is no such type.
 */
static u16 find_type(const struct pxt_target *target, const struct pxt_conditions *conditions,
		     const char *name)
{
	const struct pxt_type *type;
	u32 id, found = 0;

	if (!strcmp(name, POSIXTRACE_UNNAMED_NAME))
		return POSIXTRACE_ID_UNNAMED;
	for_each_set_bit(id, (const unsigned long *)conditions->types.bits, POSIXTRACE_ID_MAX) {
		type = pxt_type_of(target->table, id);
		if (!type || strcmp(type->name, name))
			continue;
		found = id;
		if (pxt_image_knows(&target->author, type))
			break;
	}
	return found;
}

/*
 * Readers check that the number is the same before and after they read the other members: see
 * read_condition() in the library.
 */
static void store(struct posixtrace_gate_condition *at, u32 number, u16 begin, u16 end,
		  u64 threshold)
{
	WRITE_ONCE(at->number, 0);
	/* Pairs with the fence in the library's read_condition(). */
	smp_wmb();
	WRITE_ONCE(at->begin, begin);
	WRITE_ONCE(at->end, end);
	WRITE_ONCE(at->threshold, threshold);
	/* Readers that see the number see the other members. */
	smp_store_release(&at->number, number);
}

static void show_one(const struct pxt_target *target, const struct pxt_conditions *conditions,
		     const struct posixtrace_condition *condition,
		     struct posixtrace_gate_condition *at, bool renew)
{
	u16 end = find_type(target, conditions, condition->end), begin = 0;
	bool shown = end;

	if (condition->begin[0]) {
		begin = find_type(target, conditions, condition->begin);
		shown = begin;
	}
	if (!renew && at->number && at->begin == begin && (at->end == end || !at->end)) {
		/* Keep the number: a scope may be open, and have opened the type of its end now. */
		WRITE_ONCE(at->end, end);
		return;
	}
	if (shown || at->number)
		store(at, shown ? pxt_generation_number() : 0, begin, end, condition->threshold);
}

/**
 * pxt_conditions_show() - show the conditions of a stream in the gate of a process
 * @target: the process, traced by the stream; table->lock is held
 * @link: link of the stream, which is enabled
 * @renew: a scope that is open now cannot meet a condition
 */
void pxt_conditions_show(struct pxt_target *target, const struct pxt_link *link, bool renew)
{
	struct posixtrace_gate_condition *at = target->gate->condition[link->slot];
	const struct pxt_conditions *conditions = link->conditions;
	u32 i;

	lockdep_assert_held(&target->table->lock);
	BUILD_BUG_ON(POSIXTRACE_ID_MAX - 1 > U16_MAX);
	for (i = 0; i < conditions->count; i++)
		show_one(target, conditions, &conditions->condition[i], &at[i], renew);
}

/**
 * pxt_conditions_hide() - remove the conditions of a stream from the gate of a process
 * @target: the process; table->lock is held
 * @link: link of the stream, which has or had conditions
 *
 * pxt_met() ignores what met them.
 */
void pxt_conditions_hide(struct pxt_target *target, const struct pxt_link *link)
{
	struct posixtrace_gate_condition *at = target->gate->condition[link->slot];
	u32 i;

	lockdep_assert_held(&target->table->lock);
	for (i = 0; i < POSIXTRACE_CONDITIONS_MAX; i++) {
		if (at[i].number)
			store(&at[i], 0, 0, 0, 0);
	}
	WRITE_ONCE(target->gate->pending[link->slot], 0);
}
