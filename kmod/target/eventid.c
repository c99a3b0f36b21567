// SPDX-License-Identifier: GPL-2.0
/*
 * Event types: names to ids and back. table.c stores them, image.c tracks which program has opened
 * which name, and the gates in gate.c determine which types are recorded.
 *
 * Each name has one type per image. Another image shares that type if it describes the data in the
 * same way. Otherwise it gets a separate type, so that readers do not interpret the data of one
 * image as data of the other.
 */
#include <linux/cred.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/posixtrace_log.h>

#include "target/description.h"
#include "target/eventid.h"
#include "target/gate.h"
#include "target/image.h"
#include "target/kerneltype.h"
#include "target/table.h"
#include "target/target.h"

/* Maximum number of names of an image: the unnamed type counts as one of its types. */
#define IMAGE_TYPES	(POSIXTRACE_IMAGE_TYPES - 1)

/*
 * Maximum number of names opened by one guest, by all guests together, and by guests with one
 * image.
 */
#define GUEST_TYPES	(PXT_NAMED_MAX / 16)
#define GUESTS_TYPES	(PXT_NAMED_MAX / 2)
#define GUESTS_IMAGE	(IMAGE_TYPES / 2)

static struct hlist_head *bucket_of(struct pxt_table *table, const char *name)
{
	u32 hash = jhash(name, strlen(name), 0);

	return &table->names[hash >> (32 - PXT_NAME_BITS)];
}

/* Find the type of a name in the image of the author. */
static struct pxt_type *find_known(struct pxt_table *table, const struct pxt_author *author,
				   const char *name)
{
	struct pxt_type *type;

	hlist_for_each_entry(type, bucket_of(table, name), bucket_node) {
		if (pxt_image_knows(author, type) && !strcmp(type->name, name))
			return type;
	}
	return NULL;
}

/* Find the newest type of a name. */
static struct pxt_type *find_last(struct pxt_table *table, const char *name)
{
	struct pxt_type *type;

	hlist_for_each_entry(type, bucket_of(table, name), bucket_node) {
		if (!strcmp(type->name, name))
			return type;
	}
	return NULL;
}

/* Find a type of a name with this description, or without one if @description is NULL. */
static struct pxt_type *find_same(struct pxt_table *table, const char *name,
				  const struct pxt_description *description)
{
	struct pxt_type *type;

	hlist_for_each_entry(type, bucket_of(table, name), bucket_node) {
		if (!strcmp(type->name, name) &&
		    pxt_description_same(type->description, description))
			return type;
	}
	return NULL;
}

/**
 * struct opening - arguments and state of opening a name
 * @table: event types
 * @author: the calling process, or the controller
 * @is_guest: the author is a guest of the table
 * @exact: open only a type with this @description, or without a description if it is NULL
 * @description: or NULL; set to NULL once the table owns it
 * @arg: private copy of the argument; the id is stored there
 * @type: memory for a new type, allocated without the lock of the table; or NULL
 * @chunk: memory for a new chunk, or NULL
 * @image: memory for the image of a program without names, or NULL
 * @rights: rights over a type without a description
 */
struct opening {
	struct pxt_table *table;
	struct pxt_author *author;
	bool is_guest;
	bool exact;
	struct pxt_description *description;
	struct posixtrace_eventid *arg;
	struct pxt_type *type;
	struct pxt_chunk *chunk;
	struct pxt_image *image;
	struct pxt_describer rights;
};

/* The smallest unused id, or POSIXTRACE_ID_MAX. */
static u32 free_id(struct pxt_table *table)
{
	while (pxt_type_of(table, table->low))
		table->low++;
	return table->low;
}

/* Allocate what open_locked() needs. */
static int prepare(struct opening *o)
{
	bool chunk;
	u32 id;

	if (!o->image)
		o->image = pxt_image_new();
	if (!o->type)
		o->type = kzalloc(sizeof(*o->type), GFP_KERNEL_ACCOUNT);
	mutex_lock(&o->table->lock);
	id = free_id(o->table);
	chunk = id < POSIXTRACE_ID_MAX && !o->table->chunk[id / PXT_CHUNK_SIZE];
	mutex_unlock(&o->table->lock);
	if (chunk && !o->chunk)
		o->chunk = kzalloc(sizeof(*o->chunk), GFP_KERNEL_ACCOUNT);
	return o->image && o->type && (o->chunk || !chunk) ? 0 : -ENOMEM;
}

static void unprepare(const struct opening *o)
{
	pxt_describer_end(&o->rights);
	kfree(o->chunk);
	kfree(o->type);
	kfree(o->image);
}

/*
 * If the process that a type was created for opens it with an exact match and without a
 * description, the type can no longer get a description.
 */
static void note_bare(const struct opening *o, struct pxt_type *type)
{
	if (o->exact && !o->description && o->author->process == type->opener)
		type->bare = true;
}

static void add_type(struct opening *o, u32 id)
{
	struct pxt_chunk **chunk = &o->table->chunk[id / PXT_CHUNK_SIZE];
	const struct pxt_type *like = find_last(o->table, o->arg->name);
	struct pxt_type *type = o->type;
	struct pxt_table *table = o->table;

	o->type = NULL;
	if (!*chunk)
		swap(*chunk, o->chunk);
	type->id = id;
	type->like = like ? like->id : 0;
	type->cred = get_current_cred();
	/* A process may describe a name that its controller has opened for it. */
	type->opener = o->author->process;
	type->guest = o->is_guest;
	strscpy(type->name, o->arg->name, sizeof(type->name));
	(*chunk)->type[id % PXT_CHUNK_SIZE] = type;
	hlist_add_head(&type->bucket_node, bucket_of(table, type->name));
	list_add_tail(&type->node, &table->types);
	WRITE_ONCE(table->count, table->count + 1);
	table->end = max(table->end, id + 1);
	if (o->is_guest) {
		o->author->guest.types++;
		o->author->image->guests++;
		table->guests.types++;
	}
	pxt_image_learn(o->author, type);
	note_bare(o, type);
	pxt_gate_new_type(table, type);
	pxt_gate_learned(table, type);
}

/* Has a guest opened as many names as allowed? */
static bool guest_is_full(const struct opening *o)
{
	return o->author->guest.types >= GUEST_TYPES || o->table->guests.types >= GUESTS_TYPES ||
	       o->author->image->guests >= GUESTS_IMAGE;
}

/* Returns -EAGAIN if memory must be allocated. */
static int add_name(struct opening *o)
{
	u32 id = free_id(o->table);
	int err;

	if (id == POSIXTRACE_ID_MAX || (o->is_guest && guest_is_full(o))) {
		o->arg->id = POSIXTRACE_ID_UNNAMED;
		return 0;
	}
	if (!o->type || (!o->table->chunk[id / PXT_CHUNK_SIZE] && !o->chunk))
		return -EAGAIN;
	if (o->description) {
		err = pxt_description_fits(o->table, o->author, o->is_guest, o->description);
		if (err)
			return err;
	}
	add_type(o, id);
	o->arg->id = id;
	if (o->description)
		pxt_description_attach(o->table, o->author, o->is_guest,
				       pxt_type_of(o->table, id), o->description);
	o->description = NULL;
	return 0;
}

/* Open a name that the program already has. Returns -EAGAIN if rights must be checked first. */
static int open_known(struct opening *o, struct pxt_type *type)
{
	int err = 0;

	o->arg->id = type->id;
	if (!o->exact)
		return 0;
	if (pxt_description_same(type->description, o->description)) {
		note_bare(o, type);
		return 0;
	}
	if (!o->description)
		return -EEXIST;
	err = pxt_description_add(o->table, o->author, &o->rights, type, o->description);
	if (!err)
		o->description = NULL;
	return err;
}

/* Called with the lock of the table. Returns -EAGAIN if the caller must work without the lock. */
static int open_locked(struct opening *o)
{
	struct pxt_type *type = find_known(o->table, o->author, o->arg->name);

	if (type)
		return open_known(o, type);
	if (o->author->image && o->author->image->count >= IMAGE_TYPES) {
		o->arg->id = POSIXTRACE_ID_UNNAMED;
		return 0;
	}
	if (!o->author->image && !o->image)
		return -EAGAIN;
	if (!o->author->image) {
		pxt_image_set(o->table, o->author, o->image);
		o->image = NULL;
	}
	type = find_same(o->table, o->arg->name, o->description);
	if (!type)
		return add_name(o);
	pxt_image_learn(o->author, type);
	pxt_gate_learned(o->table, type);
	o->arg->id = type->id;
	return 0;
}

static int open_name(struct opening *o)
{
	int err;

	o->is_guest = pxt_table_is_guest(o->table);
	o->rights.is_guest = o->is_guest;
	do {
		mutex_lock(&o->table->lock);
		err = open_locked(o);
		mutex_unlock(&o->table->lock);
		if (err == -EAGAIN)
			pxt_describer_look(&o->rights);
	} while (err == -EAGAIN && !(err = prepare(o)));
	unprepare(o);
	return err;
}

/* Is the name not empty, terminated, and followed by zeros only? */
static bool name_valid(const struct posixtrace_eventid *arg)
{
	size_t len = strnlen(arg->name, sizeof(arg->name));

	return len && len < sizeof(arg->name) &&
	       !memchr_inv(arg->name + len, 0, sizeof(arg->name) - len);
}

/**
 * pxt_eventid_open() - get the id of a name, creating a type if necessary
 * @table: not locked
 * @types: kernel event types, from pxt_kernel_types(); their names take precedence over the table
 * @author: the calling process, or the controller
 * @arg: private copy of the argument; the id is stored there
 * @description: from pxt_description_new(), with text, or NULL; ownership passes to this function
 *
 * POSIX: posix_trace_eventid_open(), posix_trace_trid_eventid_open(). If all ids are used, the
 * program has POSIXTRACE_IMAGE_TYPES types, or the caller is a guest of the table and has used up
 * its share, @arg gets the id of the unnamed event type.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the name is empty, not terminated, or not followed by zeros, or the
 * description is not valid; -EEXIST if the program has a type of this name with another description
 * and requests an exact match; -EPERM, -ENOSPC as pxt_description_add(); -ENOMEM.
 */
int pxt_eventid_open(struct pxt_table *table, u64 types, struct pxt_author *author,
		     struct posixtrace_eventid *arg, struct pxt_description *description)
{
	struct opening opening = {
		.table = table,
		.author = author,
		.exact = arg->flags & POSIXTRACE_OPEN_EXACT,
		.description = description,
		.arg = arg,
	};
	const struct pxt_kernel_type *kernel;
	int err = -EINVAL;
	size_t i;

	if (!name_valid(arg) || (description && !pxt_description_valid(description)))
		goto out;
	err = 0;
	for (i = 0; i < PXT_PREDEFINED; i++) {
		if (!strcmp(pxt_predefined[i].name, arg->name)) {
			arg->id = pxt_predefined[i].id;
			goto out;
		}
	}
	kernel = pxt_kernel_type_named(types, arg->name);
	if (kernel)
		arg->id = kernel->id;
	else
		err = open_name(&opening);
out:
	if (opening.description)
		pxt_description_free(opening.description);
	return err;
}

static int copy_name(struct pxt_table *table, u32 id, char *name)
{
	const struct pxt_type *type;

	mutex_lock(&table->lock);
	type = pxt_type_of(table, id);
	if (type)
		strscpy_pad(name, type->name, POSIXTRACE_EVENT_NAME_SIZE);
	mutex_unlock(&table->lock);
	return type ? 0 : -EINVAL;
}

/**
 * pxt_eventid_name() - get the name of an id
 * @table: not locked
 * @types: kernel event types, from pxt_kernel_types()
 * @arg: private copy of the argument; the name is stored there
 *
 * POSIX: posix_trace_eventid_get_name(). Context: may sleep.
 *
 * Return: 0; -EINVAL if there is no such event type.
 */
int pxt_eventid_name(struct pxt_table *table, u64 types, struct posixtrace_eventid *arg)
{
	const struct pxt_kernel_type *kernel = pxt_kernel_type_find(types, arg->id);
	const char *name = kernel ? kernel->name : pxt_predefined_name(arg->id);

	if (!name)
		return copy_name(table, arg->id, arg->name);
	strscpy_pad(arg->name, name, sizeof(arg->name));
	return 0;
}

/* Kernel types are listed between the predefined and the named ones. */
static u32 list_kernel(u64 types, u32 first, u32 *ids, u32 count)
{
	const struct pxt_kernel_type *type = NULL;
	u32 n = 0;

	while (n < count && (type = pxt_kernel_type_next(types, type))) {
		if (first)
			first--;
		else
			ids[n++] = type->id;
	}
	return n;
}

/* Call @fn for at most @count types in the order of their creation, starting at index @first. */
static u32 for_types(struct pxt_table *table, u32 first, u32 count,
		     void (*fn)(const struct pxt_type *type, u32 n, void *arg), void *arg)
{
	const struct pxt_type *type;
	u32 n = 0;

	mutex_lock(&table->lock);
	if (first >= table->count)
		goto unlock;
	list_for_each_entry(type, &table->types, node) {
		if (first) {
			first--;
			continue;
		}
		if (n == count)
			break;
		fn(type, n++, arg);
	}
unlock:
	mutex_unlock(&table->lock);
	return n;
}

static void put_id(const struct pxt_type *type, u32 n, void *arg)
{
	u32 *ids = arg;

	ids[n] = type->id;
}

/**
 * pxt_eventid_list() - list the ids of a stream in their fixed order
 * @table: not locked; with a stream
 * @types: kernel event types, from pxt_kernel_types()
 * @first: number of ids to skip
 * @ids: result
 * @count: size of @ids
 *
 * Context: may sleep.
 * Return: number of ids stored.
 */
u32 pxt_eventid_list(struct pxt_table *table, u64 types, u32 first, u32 *ids, u32 count)
{
	const u32 predefined = PXT_PREDEFINED, kernel = hweight64(types);
	u32 n = 0;

	for (; n < count && first < predefined; n++, first++)
		ids[n] = pxt_predefined[array_index_nospec(first, predefined)].id;
	if (n < count && first < predefined + kernel) {
		u32 listed = list_kernel(types, first - predefined, ids + n, count - n);

		n += listed;
		first += listed;
	}
	if (n == count || first < predefined + kernel)
		return n;
	return n + for_types(table, first - predefined - kernel, count - n, put_id, ids + n);
}

static void put_name(const struct pxt_type *type, u32 n, void *arg)
{
	struct posixtrace_log_name *name = (struct posixtrace_log_name *)arg + n;

	memset(name, 0, sizeof(*name));
	name->id = type->id;
	strscpy(name->name, type->name, sizeof(name->name));
}

/**
 * pxt_eventid_names() - list the names of a stream, in the order of pxt_eventid_list()
 * @table: not locked; with a stream
 * @first: number of named types to skip
 * @names: result
 * @count: size of @names
 *
 * Context: may sleep.
 * Return: number of names stored.
 */
u32 pxt_eventid_names(struct pxt_table *table, u32 first, struct posixtrace_log_name *names,
		      u32 count)
{
	return for_types(table, first, count, put_name, names);
}
