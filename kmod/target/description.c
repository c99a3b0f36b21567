// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of event types. Only readers interpret them: here they are text stored with the
 * name.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "target/description.h"
#include "target/image.h"
#include "target/rights.h"
#include "target/table.h"
#include "target/target.h"

/* Bytes of descriptions that one guest and all guests together can create. */
#define GUEST_BYTES	(POSIXTRACE_DESCRIPTIONS_MAX / 16)
#define GUESTS_BYTES	(POSIXTRACE_DESCRIPTIONS_MAX / 2)

/**
 * pxt_description_new() - allocate a description
 * @id: event type, not checked yet
 * @size: bytes of text, with the NUL
 *
 * Context: may sleep.
 * Return: a description with text to be filled in; ERR_PTR(-EINVAL) if @size is 0, 1 or more than
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

/**
 * pxt_description_valid() - validate a description
 * @description: from pxt_description_new(), with text
 *
 * The text must be terminated and printable on one line. Non-ASCII bytes are not checked.
 *
 * Return: true if valid.
 */
bool pxt_description_valid(const struct pxt_description *description)
{
	const char *end = description->text + description->size - 1, *p;

	for (p = description->text; p < end; p++) {
		if ((u8)*p < ' ' || *p == 0x7f)
			return false;
	}
	return !*end;
}

/**
 * pxt_description_same() - compare two descriptions
 * @a: or NULL
 * @b: or NULL
 *
 * Return: true if they are equal.
 */
bool pxt_description_same(const struct pxt_description *a, const struct pxt_description *b)
{
	if (!a || !b)
		return !a && !b;
	return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/**
 * pxt_description_fits() - check if the table has room for a description
 * @table: its lock is held
 * @author: author of the description
 * @is_guest: the author is a guest of the table
 * @description: from pxt_description_new()
 *
 * Return: 0; -ENOSPC if the table has too many, or the author is a guest and has created too many.
 */
int pxt_description_fits(const struct pxt_table *table, const struct pxt_author *author,
			 bool is_guest, const struct pxt_description *description)
{
	u32 size = description->size;

	lockdep_assert_held(&table->lock);
	if (size > POSIXTRACE_DESCRIPTIONS_MAX - table->descriptions_size)
		return -ENOSPC;
	if (is_guest && (size > GUEST_BYTES - author->guest.bytes ||
			 size > GUESTS_BYTES - table->guests.bytes))
		return -ENOSPC;
	return 0;
}

/**
 * pxt_description_attach() - give a type its description
 * @table: its lock is held
 * @author: author of the description
 * @is_guest: the author is a guest of the table
 * @type: without a description
 * @description: fits; ownership passes to the type
 */
void pxt_description_attach(struct pxt_table *table, struct pxt_author *author, bool is_guest,
			    struct pxt_type *type, struct pxt_description *description)
{
	lockdep_assert_held(&table->lock);
	description->id = type->id;
	description->guest = is_guest;
	type->description = description;
	list_add_tail(&description->node, &table->descriptions);
	table->descriptions_size += description->size;
	if (is_guest) {
		author->guest.bytes += description->size;
		table->guests.bytes += description->size;
	}
}

/**
 * pxt_describer_look() - determine what the caller may do with a type
 * @describer: if its cred is set, receives in may_describe if the caller may trace that process
 *
 * Context: may sleep; no table is locked.
 */
void pxt_describer_look(struct pxt_describer *describer)
{
	if (describer->cred)
		describer->may_describe = pxt_rights_over(describer->cred);
}

/**
 * pxt_describer_end() - release a struct pxt_describer
 * @describer: was zeroed before its first use
 */
void pxt_describer_end(const struct pxt_describer *describer)
{
	put_cred(describer->cred);
}

/* Returns -EAGAIN if pxt_describer_look() must be called first. */
static int may_describe(const struct pxt_author *author, struct pxt_describer *describer,
			const struct pxt_type *type)
{
	if (author->number && author->number == type->opener)
		return 0;
	/* Each type has a single opener, and therefore one cred. */
	if (describer->cred == type->cred)
		return describer->may_describe ? 0 : -EPERM;
	put_cred(describer->cred);
	describer->cred = get_cred(type->cred);
	return -EAGAIN;
}

/**
 * pxt_description_add() - describe an event type
 * @table: its lock is held
 * @author: the caller; knows the type
 * @describer: the rights of the caller
 * @type: in that table
 * @description: from pxt_description_new(), with valid text. Owned by the type if this returns 0
 *
 * Return: 0; -EALREADY if the type has the same description; -EEXIST if it has another one, or if
 * another program or a trace point has used the type without one; -EPERM if the name was first
 * opened by another process that the caller may not trace; -ENOSPC as pxt_description_fits();
 * -EAGAIN if pxt_describer_look() must be called first, without the lock.
 */
int pxt_description_add(struct pxt_table *table, struct pxt_author *author,
			struct pxt_describer *describer, struct pxt_type *type,
			struct pxt_description *description)
{
	int err;

	if (type->description)
		return pxt_description_same(description, type->description) ? -EALREADY : -EEXIST;
	if (type->bare)
		return -EEXIST;
	err = may_describe(author, describer, type);
	if (!err)
		err = pxt_description_fits(table, author, describer->is_guest, description);
	if (!err)
		pxt_description_attach(table, author, describer->is_guest, type, description);
	return err;
}

static int describe_locked(struct pxt_table *table, struct pxt_author *author,
			   struct pxt_describer *describer, struct pxt_description *description)
{
	/* Only named types: the unnamed one stands for many, and the predefined ones are fixed. */
	struct pxt_type *type = pxt_type_of(table, description->id);

	if (!type || !pxt_image_knows(author, type))
		return -ENOENT;
	return pxt_description_add(table, author, describer, type, description);
}

/**
 * pxt_describe() - DESCRIBE
 * @table: not locked
 * @author: the calling process, or the controller
 * @description: from pxt_description_new(), with text. Owned by the table if this returns 0
 *
 * Context: may sleep.
 * Return: 0; -ENOENT if the program has not opened a name with this id; -EINVAL if the text is not
 * terminated or has control characters; otherwise as pxt_description_add(), except for -EAGAIN.
 */
int pxt_describe(struct pxt_table *table, struct pxt_author *author,
		 struct pxt_description *description)
{
	struct pxt_describer describer = { .is_guest = pxt_table_is_guest(table) };
	int err;

	if (!pxt_description_valid(description))
		return -EINVAL;
	do {
		mutex_lock(&table->lock);
		err = describe_locked(table, author, &describer, description);
		mutex_unlock(&table->lock);
		if (err == -EAGAIN)
			pxt_describer_look(&describer);
	} while (err == -EAGAIN);
	pxt_describer_end(&describer);
	return err;
}

/**
 * pxt_description_find() - find the description of an event type
 * @table: not locked; a stream of the caller is on it
 * @id: event type
 * @description: the description; lives as long as that stream
 *
 * Context: may sleep.
 * Return: 0; -ENOENT if the type has no description; -EINVAL if there is no such event type.
 */
int pxt_description_find(struct pxt_table *table, u32 id,
			 const struct pxt_description **description)
{
	const struct pxt_type *type;

	mutex_lock(&table->lock);
	type = pxt_type_of(table, id);
	*description = type ? type->description : NULL;
	mutex_unlock(&table->lock);
	if (!type && !pxt_predefined_name(id))
		return -EINVAL;
	return *description ? 0 : -ENOENT;
}

/**
 * pxt_description_next() - iterate over all descriptions in the order of creation
 * @table: not locked; a stream of the caller is on it
 * @last: the previous one; NULL for the first one
 *
 * Context: may sleep.
 * Return: the description, which lives as long as the stream, or NULL.
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
