// SPDX-License-Identifier: MIT
/*
 * The table of trace ids. A trace id is the index of a slot in the table and, in the upper
 * bits, the generation of the slot. So an id that was shut down stays invalid until its slot
 * has been used half a million times more.
 */
#include <stdlib.h>

#include "common/state.h"
#include "common/trid.h"

#define INDEX_BITS	12
#define GENERATION_BITS	19		/* a trace id is a positive int */
#define SLOTS_MIN	16U
#define SLOTS_MAX	(1U << INDEX_BITS)
#define GENERATION_MAX	((1U << GENERATION_BITS) - 1)

/**
 * struct trid_slot - one trace id
 * @source: the source that it stands for; NULL in a free slot
 * @generation: upper part of the trace id, from 1
 */
struct trid_slot {
	struct pxtu_source *source;
	unsigned int generation;
};

/**
 * struct pxtu_trid_table - trace ids of this process
 * @lock: guards all below, and the use counts of the sources. Inside it, the lock of a
 *	source is only tried. Innermost otherwise; held for a few
 *	instructions only (and to grow the table)
 * @nr_slots: slots in use or free
 * @slots: the slots
 */
struct pxtu_trid_table {
	pthread_mutex_t lock;
	unsigned int nr_slots;
	struct trid_slot *slots;
};

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
	mine = calloc(1, sizeof(*mine));
	if (!mine)
		return NULL;
	pthread_mutex_init(&mine->lock, NULL);
	/* Pairs with the load in table_get(). */
	if (__atomic_compare_exchange_n(&state->trids, &found, mine, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return mine;
	pthread_mutex_destroy(&mine->lock);
	free(mine);
	return found;
}

static trace_id_t slot_trid(const struct pxtu_trid_table *table, const struct trid_slot *slot)
{
	return (trace_id_t)(slot->generation << INDEX_BITS | (unsigned int)(slot - table->slots));
}

/* The slot that a valid trace id means, if its source is of the kind. With the lock held. */
static struct trid_slot *slot_find(struct pxtu_trid_table *table, trace_id_t trid,
				   const struct pxtu_source_ops *kind)
{
	struct trid_slot *slot;

	if (trid <= 0 || (unsigned int)trid % SLOTS_MAX >= table->nr_slots)
		return NULL;
	slot = &table->slots[(unsigned int)trid % SLOTS_MAX];
	return slot->source && slot_trid(table, slot) == trid &&
	       (!kind || slot->source->ops == kind) ? slot : NULL;
}

/* A free slot, or NULL with the reason in @err. With the lock held. */
static struct trid_slot *slot_free(struct pxtu_trid_table *table, int *err)
{
	unsigned int i, nr = table->nr_slots ? 2 * table->nr_slots : SLOTS_MIN;
	struct trid_slot *slots;

	for (i = 0; i < table->nr_slots; i++)
		if (!table->slots[i].source)
			return &table->slots[i];

	*err = -EAGAIN;
	if (nr > SLOTS_MAX)
		return NULL;
	*err = -ENOMEM;
	slots = realloc(table->slots, nr * sizeof(*slots));
	if (!slots)
		return NULL;
	for (i = table->nr_slots; i < nr; i++)
		slots[i] = (struct trid_slot){ .generation = 1 };
	i = table->nr_slots;
	table->slots = slots;
	table->nr_slots = nr;
	return &slots[i];
}

int pxtu_trid_install(struct pxtu_source *source, trace_id_t *trid)
{
	struct pxtu_trid_table *table = table_get();
	struct trid_slot *slot;
	int err = 0;

	if (!table)
		table = table_make();
	if (!table)
		return -ENOMEM;
	pthread_mutex_lock(&table->lock);
	slot = slot_free(table, &err);
	if (slot) {
		slot->source = source;
		*trid = slot_trid(table, slot);
	}
	pthread_mutex_unlock(&table->lock);
	return slot ? 0 : err;
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
	struct pxtu_source *source = NULL;
	struct trid_slot *slot;

	if (!table)
		return NULL;
	pthread_mutex_lock(&table->lock);
	slot = slot_find(table, trid, kind);
	/* No wait here: a reader may hold the lock for long. */
	if (slot && !pthread_mutex_trylock(&slot->source->lock))
		source = slot->source;
	pthread_mutex_unlock(&table->lock);
	return source;
}

void pxtu_trid_put(struct pxtu_source *source)
{
	struct pxtu_trid_table *table = table_get();

	/* No table: a signal handler forked meanwhile, and this is the child. */
	if (!table)
		return;
	pthread_mutex_lock(&table->lock);
	/* Signal under the lock: without it the source may be freed first. */
	if (!--source->users && source->removed)
		pthread_cond_signal(&source->idle);
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
		slot->source = NULL;
		slot->generation = slot->generation < GENERATION_MAX ? slot->generation + 1 : 1;
	}
	pthread_mutex_unlock(&table->lock);
	return source;
}

void pxtu_trid_drain(struct pxtu_source *source)
{
	struct pxtu_trid_table *table = table_get();

	pthread_mutex_lock(&table->lock);
	while (source->users)
		pthread_cond_wait(&source->idle, &table->lock);
	pthread_mutex_unlock(&table->lock);
	/* Wait for pxtu_trid_lock(): from now on it does not find the source. */
	pthread_mutex_lock(&source->lock);
	pthread_mutex_unlock(&source->lock);
}
