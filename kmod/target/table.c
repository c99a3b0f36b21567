// SPDX-License-Identifier: GPL-2.0
/*
 * The table of event types shared by a family of processes, and the lifetime of types. eventid.c
 * looks up names; image.c tracks which program has opened which name.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "ring/noalloc.h"
#include "target/description.h"
#include "target/gate.h"
#include "target/rights.h"
#include "target/table.h"
#include "target/target.h"

#define PREDEFINED(id, name)	{ POSIXTRACE_ID_##id, name },

const struct pxt_predefined pxt_predefined[] = {
	POSIXTRACE_SYSTEM_TYPES(PREDEFINED)
	{ POSIXTRACE_ID_UNNAMED, POSIXTRACE_UNNAMED_NAME },
};

static_assert(ARRAY_SIZE(pxt_predefined) == PXT_PREDEFINED);

/**
 * pxt_predefined_name() - get the name of a predefined event type
 * @id: any number
 *
 * Return: the name, or NULL if the type is not predefined.
 */
const char *pxt_predefined_name(u32 id)
{
	size_t i;

	for (i = 0; i < PXT_PREDEFINED; i++) {
		if (pxt_predefined[i].id == id)
			return pxt_predefined[i].name;
	}
	return NULL;
}

/**
 * pxt_table_new() - create a table with the predefined event types
 *
 * Context: may sleep.
 * Return: one reference, or NULL.
 */
struct pxt_table *pxt_table_new(void)
{
	struct pxt_table *table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);

	if (!table)
		return NULL;
	kref_init(&table->kref);
	mutex_init(&table->lock);
	pxt_noalloc(&table->lock);
	INIT_LIST_HEAD(&table->targets);
	INIT_LIST_HEAD(&table->links);
	INIT_LIST_HEAD(&table->attachments);
	INIT_LIST_HEAD(&table->types);
	INIT_LIST_HEAD(&table->descriptions);
	table->low = PXT_FIRST_NAMED;
	table->end = PXT_FIRST_NAMED;
	return table;
}

/**
 * pxt_type_free() - free a type that no image or stream uses
 * @table: its lock is held
 * @type: in that table
 */
void pxt_type_free(struct pxt_table *table, struct pxt_type *type)
{
	struct pxt_description *description = type->description;

	lockdep_assert_held(&table->lock);
	table->chunk[type->id / PXT_CHUNK_SIZE]->type[type->id % PXT_CHUNK_SIZE] = NULL;
	hlist_del(&type->bucket_node);
	list_del(&type->node);
	WRITE_ONCE(table->count, table->count - 1);
	table->low = min(table->low, type->id);
	table->guests.types -= type->guest;
	if (description) {
		list_del(&description->node);
		table->descriptions_size -= description->size;
		table->guests.bytes -= description->guest ? description->size : 0;
		pxt_description_free(description);
	}
	put_cred(type->cred);
	kfree(type);
}

static void free_types(struct pxt_table *table)
{
	struct pxt_type *type, *next;

	list_for_each_entry_safe(type, next, &table->types, node) {
		if (!type->images)
			pxt_type_free(table, type);
		cond_resched();
	}
}

static void table_free(struct kref *kref)
{
	struct pxt_table *table = container_of(kref, struct pxt_table, kref);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(table->chunk); i++)
		kfree(table->chunk[i]);
	put_cred(table->cred);
	mutex_destroy(&table->lock);
	kfree_rcu(table, rcu);
}

/**
 * pxt_table_get() - get another reference
 * @table: the caller already holds one
 */
void pxt_table_get(struct pxt_table *table)
{
	kref_get(&table->kref);
}

/**
 * pxt_table_put() - put a reference
 * @table: not locked; with the last reference, all images and streams are gone
 *
 * Context: may sleep.
 */
void pxt_table_put(struct pxt_table *table)
{
	kref_put(&table->kref, table_free);
}

/**
 * pxt_table_enter() - add a stream to the table
 * @table: its lock is held
 * @link: link of the stream
 */
void pxt_table_enter(struct pxt_table *table, struct pxt_link *link)
{
	lockdep_assert_held(&table->lock);
	list_add_tail(&link->node, &table->links);
}

/**
 * pxt_table_leave() - remove a stream from the table
 * @link: link of a stream that has left its image, see pxt_image_leave(); it may never have entered
 *
 * Context: may sleep.
 */
void pxt_table_leave(struct pxt_link *link)
{
	struct pxt_table *table = link->table;

	mutex_lock(&table->lock);
	list_del(&link->node);
	if (list_empty(&table->links))
		free_types(table);
	mutex_unlock(&table->lock);
}

/**
 * pxt_table_has_names() - check for any named event type
 * @table: a reference, or found under RCU
 *
 * Return: true if so.
 */
bool pxt_table_has_names(const struct pxt_table *table)
{
	return READ_ONCE(table->count);
}

/**
 * pxt_table_note_first() - note the rights of the first process of a family
 * @table: a reference, or found under RCU
 * @cred: credentials of its only process, which is forking, or which another process joins
 *
 * Only the first call has an effect. Until then, the table belongs to one process. Context: in a
 * tracepoint; must not sleep.
 */
void pxt_table_note_first(struct pxt_table *table, const struct cred *cred)
{
	if (READ_ONCE(table->cred))
		return;
	get_cred(cred);
	/* Not the last reference: the caller holds one. */
	if (cmpxchg(&table->cred, NULL, cred))
		put_cred(cred);
}

/**
 * pxt_table_is_guest() - check if the calling process is a guest of the table
 * @table: a reference
 *
 * Return: true if so.
 */
bool pxt_table_is_guest(const struct pxt_table *table)
{
	/* Written before the first child runs, see pxt_table_note_first(). */
	const struct cred *cred = READ_ONCE(table->cred);

	return cred && !pxt_rights_over(cred);
}

/**
 * pxt_type_of() - find the named type with an id
 * @table: its lock is held
 * @id: any number
 *
 * Return: the type, or NULL. It lives while an image knows it or a stream is on the table.
 */
struct pxt_type *pxt_type_of(struct pxt_table *table, u32 id)
{
	lockdep_assert_held(&table->lock);
	if (id < PXT_FIRST_NAMED || id >= table->end)
		return NULL;
	id = array_index_nospec(id, POSIXTRACE_ID_MAX);
	if (!table->chunk[id / PXT_CHUNK_SIZE])
		return NULL;
	return table->chunk[id / PXT_CHUNK_SIZE]->type[id % PXT_CHUNK_SIZE];
}
