// SPDX-License-Identifier: GPL-2.0
/*
 * Images: the names each program has opened. POSIX: a new program starts without the names of the
 * old one, and a child inherits all names of its parent. Ids are unique in the family of processes
 * that share the streams.
 */
#include <linux/bitmap.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "target/gate.h"
#include "target/image.h"
#include "target/table.h"
#include "target/target.h"

static void forget(struct pxt_table *table, struct pxt_image *image)
{
	struct pxt_type *type;
	u32 id;

	for_each_set_bit(id, image->known, POSIXTRACE_ID_MAX) {
		type = pxt_type_of(table, id);
		if (!--type->images && list_empty(&table->links))
			pxt_type_free(table, type);
	}
}

/**
 * pxt_image_put() - put a reference
 * @table: its lock is held
 * @image: image of that table, or NULL
 */
void pxt_image_put(struct pxt_table *table, struct pxt_image *image)
{
	lockdep_assert_held(&table->lock);
	if (!image || !refcount_dec_and_test(&image->users))
		return;
	forget(table, image);
	kfree(image);
}

/**
 * pxt_image_new() - allocate an image
 *
 * Context: may sleep.
 * Return: an image without names and with one user, or NULL. Pass it to pxt_image_set() or kfree().
 */
struct pxt_image *pxt_image_new(void)
{
	struct pxt_image *image = kzalloc(sizeof(*image), GFP_KERNEL_ACCOUNT);

	if (image)
		refcount_set(&image->users, 1);
	return image;
}

/**
 * pxt_image_begin() - give the first process of a family an image
 * @author: the process
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_image_begin(struct pxt_author *author)
{
	author->image = pxt_image_new();
	return author->image ? 0 : -ENOMEM;
}

/**
 * pxt_image_get() - get the image that a child inherits
 * @author: the calling process, which is forking
 *
 * The process cannot execute another program during this call. Context: in a tracepoint; must not
 * sleep.
 *
 * Return: a reference, or NULL if the process has no image.
 */
struct pxt_image *pxt_image_get(const struct pxt_author *author)
{
	/* Pairs with the release in assign(): another thread may open a name. */
	struct pxt_image *image = smp_load_acquire(&author->image);

	if (image)
		refcount_inc(&image->users);
	return image;
}

/**
 * pxt_image_adopt() - give a new process the image of its parent
 * @table: not locked
 * @author: the new process
 * @image: from pxt_image_get(); takes over the reference
 *
 * Context: may sleep.
 */
void pxt_image_adopt(struct pxt_table *table, struct pxt_author *author, struct pxt_image *image)
{
	mutex_lock(&table->lock);
	if (author->image)
		pxt_image_put(table, image);
	else
		author->image = image;
	mutex_unlock(&table->lock);
}

static void assign(struct pxt_author *author, struct pxt_image *image)
{
	if (author->image)
		return;
	refcount_inc(&image->users);
	/* Pairs with the acquire in pxt_image_get(). */
	smp_store_release(&author->image, image);
}

/**
 * pxt_image_share() - give a new process the image of a process with the same memory
 * @table: table of both; not locked
 * @author: the new process
 * @of: the other process
 *
 * Context: may sleep.
 */
void pxt_image_share(struct pxt_table *table, struct pxt_author *author,
		     const struct pxt_author *of)
{
	mutex_lock(&table->lock);
	if (of->image)
		assign(author, of->image);
	mutex_unlock(&table->lock);
}

static void drop(struct pxt_table *table, struct pxt_author *author)
{
	pxt_image_put(table, author->image);
	author->image = NULL;
}

/* The target that an author opens names for; NULL if the process has ended. */
static struct pxt_target *process_of(struct pxt_table *table, const struct pxt_author *author)
{
	struct pxt_target *target;

	if (author->number)
		return container_of(author, struct pxt_target, author);
	list_for_each_entry(target, &table->targets, table_node) {
		if (target->author.number == author->process)
			return target->ended ? NULL : target;
		cond_resched();
	}
	return NULL;
}

/**
 * pxt_image_set() - give an image to an author that has none
 * @table: its lock is held
 * @author: a process, or the controller of a stream
 * @image: from pxt_image_new(); now owned by the table
 *
 * The process shares its image with the controllers of streams that were created for it and still
 * trace it.
 */
void pxt_image_set(struct pxt_table *table, struct pxt_author *author, struct pxt_image *image)
{
	struct pxt_target *target = process_of(table, author);
	struct pxt_link *link;
	u32 slot;

	lockdep_assert_held(&table->lock);
	for (slot = 0; target && slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (link && link->author.process == target->author.number)
			assign(&link->author, image);
	}
	/*
	 * If the author is a controller whose stream has left the process, only the controller gets
	 * the image: it opens names of the program that the stream was created for.
	 */
	if (target && (author->number || author->image))
		assign(&target->author, image);
	assign(author, image);
	pxt_image_put(table, image);
}

/**
 * pxt_image_executed() - forget the names of the previous program after an exec
 * @target: target of the calling process; its table is not locked
 *
 * The controllers of the streams that were created for the process forget them as well. If the
 * allocation fails, the new program gets an image when it opens a name. Context: may sleep.
 */
void pxt_image_executed(struct pxt_target *target)
{
	struct pxt_image *image = pxt_image_new();
	struct pxt_link *link;
	u32 slot;

	mutex_lock(&target->table->lock);
	drop(target->table, &target->author);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (link && link->author.process == target->author.number)
			drop(target->table, &link->author);
	}
	if (image)
		pxt_image_set(target->table, &target->author, image);
	mutex_unlock(&target->table->lock);
}

/**
 * pxt_image_leave() - put the image of an author
 * @table: not locked
 * @author: opens no more names
 *
 * Context: may sleep.
 */
void pxt_image_leave(struct pxt_table *table, struct pxt_author *author)
{
	mutex_lock(&table->lock);
	drop(table, author);
	mutex_unlock(&table->lock);
}

/**
 * pxt_image_knows() - check if an author has opened a name
 * @author: a process, or the controller of a stream; the lock of its table is held
 * @type: type of that name
 *
 * Return: true if so.
 */
bool pxt_image_knows(const struct pxt_author *author, const struct pxt_type *type)
{
	return author->image && test_bit(type->id, author->image->known);
}

/**
 * pxt_image_learn() - note that an author has opened a name
 * @author: with an image that does not contain the name; the lock of its table is held
 * @type: type of that name
 */
void pxt_image_learn(struct pxt_author *author, struct pxt_type *type)
{
	if (type->opened)
		type->bare = true;
	type->opened = true;
	type->images++;
	author->image->count++;
	__set_bit(type->id, author->image->known);
}
