// SPDX-License-Identifier: MIT
/*
 * The table of trace ids. A trace id is the index of a slot in the table and, in the upper
 * bits, the generation of the slot. An id that was shut down therefore stays invalid until its
 * slot has been reused half a million times.
 *
 * A slot also has the lock of its source. Slots are never freed, so pxtu_trid_lock() can take that
 * lock first, and check afterwards if the slot has the trace id.
 */
#include <stdlib.h>

#include "common/state.h"
#include "common/sys.h"
#include "common/trid.h"

#define INDEX_BITS	12
#define GENERATION_BITS	19		/* a trace id is a positive int */
#define SLOTS_MAX	(1U << INDEX_BITS)
#define GENERATION_MAX	((1U << GENERATION_BITS) - 1)

/**
 * struct trid_slot - one trace id
 * @lock: lock of the source
 * @source: the source in the slot; NULL in a free slot
 * @trid: its trace id; 0 before it is installed, and after it was removed
 * @generation: upper part of the next trace id, from 1
 * @apart: padding, so that readers of two streams do not share a cache line
 */
struct trid_slot {
	pthread_mutex_t lock;
	struct pxtu_source *source;
	trace_id_t trid;
	unsigned int generation;
	char apart[72];
};

/**
 * struct pxtu_trid_table - trace ids of this process
 * @lock: guards all fields below except the locks of sources; also guards the use counts of the
 *	sources. Innermost; held for a few instructions only
 * @older: table of the parent process; only in a child, which cannot free its copy of that table
 * @nr_slots: slots that have been used; only these have an initialized lock
 * @slot: the slots
 */
struct pxtu_trid_table {
	pthread_mutex_t lock;
	struct pxtu_trid_table *older;
	unsigned int nr_slots;
	struct trid_slot slot[SLOTS_MAX];
};

/*
 * A list of all tables. Only leak checkers use it, because they do not scan the pages of the state.
 */
static struct pxtu_trid_table *tables;

static struct pxtu_trid_table *table_get(void)
{
	struct pxtu_state *state = pxtu_state();

	/* Pairs with the compare-and-swap in table_make(). */
	return state ? pxtu_load_acquire(&state->trids) : NULL;
}

static struct pxtu_trid_table *table_make(void)
{
	struct pxtu_state *state = pxtu_state();
	struct pxtu_trid_table *mine, *found = NULL;

	if (!state)
		return NULL;
	/* Only slots that are used take up memory. */
	mine = calloc(1, sizeof(*mine));
	if (!mine)
		return NULL;
	pthread_mutex_init(&mine->lock, NULL);
	mine->older = pxtu_load(&tables);
	/* Pairs with the load in table_get(). */
	if (__atomic_compare_exchange_n(&state->trids, &found, mine, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		pxtu_store(&tables, mine);
		return mine;
	}
	pthread_mutex_destroy(&mine->lock);
	free(mine);
	return found;
}

/* The slot for a number, possibly with another trace id; NULL if it was never used. */
static struct trid_slot *slot_at(struct pxtu_trid_table *table, trace_id_t trid)
{
	unsigned int index = (unsigned int)trid % SLOTS_MAX;

	/* Pairs with the store in slot_free(). */
	return trid > 0 && index < pxtu_load_acquire(&table->nr_slots) ? &table->slot[index] : NULL;
}

/*
 * Does the slot have this trace id, and a source of the kind? Called with the lock of the slot or
 * of the table.
 */
static bool slot_is(const struct trid_slot *slot, trace_id_t trid,
		    const struct pxtu_source_ops *kind)
{
	/* Pairs with the store in pxtu_trid_install(). */
	return pxtu_load_acquire(&slot->trid) == trid && (!kind || slot->source->ops == kind);
}

/* Find the slot of a valid trace id with a source of the kind. Called with the lock. */
static struct trid_slot *slot_find(struct pxtu_trid_table *table, trace_id_t trid,
				   const struct pxtu_source_ops *kind)
{
	struct trid_slot *slot = slot_at(table, trid);

	return slot && slot_is(slot, trid, kind) ? slot : NULL;
}

/* Get a free slot, or NULL. Called with the lock. */
static struct trid_slot *slot_free(struct pxtu_trid_table *table)
{
	struct trid_slot *slot;
	unsigned int i;

	for (i = 0; i < table->nr_slots; i++)
		if (!table->slot[i].source)
			return &table->slot[i];
	if (i == SLOTS_MAX)
		return NULL;
	slot = &table->slot[i];
	pthread_mutex_init(&slot->lock, NULL);
	slot->generation = 1;
	/* Pairs with the load in slot_at(). */
	pxtu_store_release(&table->nr_slots, i + 1);
	return slot;
}

int pxtu_trid_install(struct pxtu_source *source, trace_id_t *trid)
{
	struct pxtu_trid_table *table = table_get();
	struct trid_slot *slot;

	if (!table)
		table = table_make();
	if (!table)
		return -ENOMEM;
	pthread_mutex_lock(&table->lock);
	slot = slot_free(table);
	if (slot) {
		slot->source = source;
		source->lock = &slot->lock;
		*trid = (trace_id_t)(slot->generation << INDEX_BITS |
				     (unsigned int)(slot - table->slot));
		/* Pairs with the load in slot_is(). */
		pxtu_store_release(&slot->trid, *trid);
	}
	pthread_mutex_unlock(&table->lock);
	return slot ? 0 : -EAGAIN;
}

struct pxtu_source *pxtu_trid_get(trace_id_t trid, const struct pxtu_source_ops *kind)
{
	struct pxtu_trid_table *table = table_get();
	struct pxtu_source *source = NULL;
	struct trid_slot *slot;

	if (!table)
		return NULL;
	pthread_mutex_lock(&table->lock);
	slot = slot_find(table, trid, kind);
	if (slot) {
		source = slot->source;
		source->users++;
	}
	pthread_mutex_unlock(&table->lock);
	return source;
}

struct pxtu_source *pxtu_trid_lock(trace_id_t trid, const struct pxtu_source_ops *kind)
{
	struct pxtu_trid_table *table = table_get();
	struct trid_slot *slot = table ? slot_at(table, trid) : NULL;

	/* Do not wait for the lock: a reader may hold it for long. */
	if (!slot || pthread_mutex_trylock(&slot->lock))
		return NULL;
	if (slot_is(slot, trid, kind))
		return slot->source;
	pthread_mutex_unlock(&slot->lock);
	return NULL;
}

void pxtu_trid_put(struct pxtu_source *source)
{
	struct pxtu_trid_table *table = table_get();

	/* Without a table, this is a child that a signal handler forked. */
	if (!table)
		return;
	pthread_mutex_lock(&table->lock);
	/* Wake with the lock held: otherwise the source might be freed first. */
	if (!--source->users && source->removed)
		pxtu_futex_wake(&source->users);
	pthread_mutex_unlock(&table->lock);
}

struct pxtu_source *pxtu_trid_remove(trace_id_t trid, const struct pxtu_source_ops *kind)
{
	struct pxtu_trid_table *table = table_get();
	struct pxtu_source *source = NULL;
	struct trid_slot *slot;

	if (!table)
		return NULL;
	pthread_mutex_lock(&table->lock);
	slot = slot_find(table, trid, kind);
	if (slot) {
		source = slot->source;
		source->removed = true;
		pxtu_store(&slot->trid, 0);
	}
	pthread_mutex_unlock(&table->lock);
	return source;
}

static int count_users(struct pxtu_trid_table *table, const struct pxtu_source *source)
{
	int users;

	pthread_mutex_lock(&table->lock);
	users = source->users;
	pthread_mutex_unlock(&table->lock);
	return users;
}

bool pxtu_trid_drain(struct pxtu_source *source)
{
	struct pxtu_trid_table *table = table_get();
	struct trid_slot *slot = pxtu_container_of(source->lock, struct trid_slot, lock);
	int users;

	while (table) {
		users = count_users(table, source);
		if (!users)
			break;
		/* Not pthread_cond_wait(): a child that a signal handler forks would hang there. */
		pxtu_futex_wait(&source->users, users);
		table = table_get();
	}
	if (!table)
		return false;
	/* Wait for users of pxtu_trid_lock(). Later callers see that the trace id is gone. */
	pthread_mutex_lock(&slot->lock);
	pthread_mutex_unlock(&slot->lock);

	pthread_mutex_lock(&table->lock);
	slot->generation = slot->generation < GENERATION_MAX ? slot->generation + 1 : 1;
	slot->source = NULL;
	pthread_mutex_unlock(&table->lock);
	return true;
}

bool pxtu_trid_forked(void)
{
	/* The kernel has cleared the state of a child, so it has no table. */
	return !table_get();
}
