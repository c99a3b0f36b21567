// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of event types. Readers know what they mean: here they are text beside the name.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "target/description.h"
#include "target/eventid.h"

/**
 * pxt_description_new() - memory for a description
 * @id: event type, not checked yet
 * @size: bytes of text, with the NUL
 *
 * Context: may sleep.
 * Return: it, with text to be filled in; ERR_PTR(-EINVAL) if @size is 0, 1 or more than
 * POSIXTRACE_DESCRIPTION_SIZE; ERR_PTR(-ENOMEM).
 */
struct pxt_description *pxt_description_new(u32 id, u32 size)
{
	struct pxt_description *description;

	if (size < 2 || size > POSIXTRACE_DESCRIPTION_SIZE)
		return ERR_PTR(-EINVAL);
	description = kvmalloc(struct_size(description, text, size), GFP_KERNEL_ACCOUNT);
	if (!description)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&description->node);
	description->id = id;
	description->size = size;
	return description;
}

/* Terminated, and fit to be shown on one line. The bytes of other characters are not checked. */
static bool text_valid(const struct pxt_description *description)
{
	const char *end = description->text + description->size - 1, *p;

	for (p = description->text; p < end; p++) {
		if ((u8)*p < ' ' || *p == 0x7f)
			return false;
	}
	return !*end;
}

static bool same(const struct pxt_description *a, const struct pxt_description *b)
{
	return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

static int add_locked(struct pxt_table *table, struct pxt_description *description)
{
	const struct pxt_description *other;
	int err;

	/* The unnamed type stands for many, and the predefined ones have a meaning. */
	if (description->id <= POSIXTRACE_ID_UNNAMED ||
	    description->id >= pxt_table_end_locked(table))
		return -ENOENT;
	other = xa_load(&table->described, description->id);
	if (other)
		return same(description, other) ? -EALREADY : -EEXIST;
	if (description->size > POSIXTRACE_DESCRIPTIONS_MAX - table->descriptions_size)
		return -ENOSPC;
	err = xa_err(xa_store(&table->described, description->id, description,
			      GFP_KERNEL_ACCOUNT));
	if (err)
		return err;
	list_add_tail(&description->node, &table->descriptions);
	table->descriptions_size += description->size;
	return 0;
}

/**
 * pxt_description_add() - describe an event type
 * @table: not locked
 * @description: from pxt_description_new(), with text. Belongs to the table if this returns 0
 *
 * Context: may sleep.
 * Return: 0; -EALREADY if the type has the same description; -EEXIST if it has another one;
 * -ENOENT if there is no such named user event type; -EINVAL if the text is not terminated or
 * has control characters; -ENOSPC if the table has too many; -ENOMEM.
 */
int pxt_description_add(struct pxt_table *table, struct pxt_description *description)
{
	int err;

	if (!text_valid(description))
		return -EINVAL;
	mutex_lock(&table->lock);
	err = add_locked(table, description);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * pxt_description_find() - the description of an event type
 * @table: not locked; the caller has a reference
 * @id: event type
 * @description: gets the description, which lives as long as the table
 *
 * Context: may sleep.
 * Return: 0; -ENOENT if the type has none; -EINVAL if there is no such event type.
 */
int pxt_description_find(struct pxt_table *table, u32 id,
			 const struct pxt_description **description)
{
	if (!pxt_table_has(table, id))
		return -EINVAL;
	mutex_lock(&table->lock);
	*description = xa_load(&table->described, id);
	mutex_unlock(&table->lock);
	return *description ? 0 : -ENOENT;
}

/**
 * pxt_description_next() - go through all descriptions in the order in which they were made
 * @table: not locked; the caller has a reference
 * @last: the one before, NULL for the first one
 *
 * Context: may sleep.
 * Return: the description, which lives as long as the table, or NULL if there is none yet.
 */
const struct pxt_description *pxt_description_next(struct pxt_table *table,
						   const struct pxt_description *last)
{
	const struct list_head *node;

	mutex_lock(&table->lock);
	node = last ? last->node.next : table->descriptions.next;
	if (node == &table->descriptions)
		node = NULL;
	mutex_unlock(&table->lock);
	return node ? list_entry(node, struct pxt_description, node) : NULL;
}
