// SPDX-License-Identifier: GPL-2.0
/*
 * Event types: names to ids and back. The gates, in gate.c, say which types are recorded.
 */
#include <linux/kernel.h>
#include <linux/jhash.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "target/description.h"
#include "target/eventid.h"
#include "target/gate.h"
#include "target/kerneltype.h"
#include "target/target.h"

struct pxt_type {
	struct hlist_node node;
	u32 id;
	char name[POSIXTRACE_EVENT_NAME_SIZE];
};

static const struct {
	u32 id;
	const char *name;
} pxt_predefined[] = {
	{ POSIXTRACE_ID_ERROR, "posix_trace_error" },
	{ POSIXTRACE_ID_START, "posix_trace_start" },
	{ POSIXTRACE_ID_STOP, "posix_trace_stop" },
	{ POSIXTRACE_ID_OVERFLOW, "posix_trace_overflow" },
	{ POSIXTRACE_ID_RESUME, "posix_trace_resume" },
	{ POSIXTRACE_ID_FLUSH_START, "posix_trace_flush_start" },
	{ POSIXTRACE_ID_FLUSH_STOP, "posix_trace_flush_stop" },
	{ POSIXTRACE_ID_FILTER, "posix_trace_filter" },
	{ POSIXTRACE_ID_UNNAMED, "posix_trace_unnamed_userevent" },
};

#define FIRST_NAMED	(POSIXTRACE_ID_UNNAMED + 1)

/**
 * pxt_table_new() - a table with the predefined event types
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
	INIT_LIST_HEAD(&table->targets);
	INIT_LIST_HEAD(&table->attachments);
	xa_init_flags(&table->types, XA_FLAGS_ACCOUNT);
	table->next = FIRST_NAMED;
	xa_init_flags(&table->described, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&table->descriptions);
	return table;
}

static void table_free(struct kref *kref)
{
	struct pxt_table *table = container_of(kref, struct pxt_table, kref);
	struct pxt_description *description, *next;
	struct pxt_type *type;
	unsigned long id;

	list_for_each_entry_safe(description, next, &table->descriptions, node)
		pxt_description_free(description);
	xa_destroy(&table->described);
	xa_for_each(&table->types, id, type)
		kfree(type);
	xa_destroy(&table->types);
	mutex_destroy(&table->lock);
	kfree_rcu(table, rcu);
}

/**
 * pxt_table_get() - one more reference
 * @table: of which the caller has one
 */
void pxt_table_get(struct pxt_table *table)
{
	kref_get(&table->kref);
}

/**
 * pxt_table_put() - give a reference back
 * @table: not locked
 *
 * Context: may sleep.
 */
void pxt_table_put(struct pxt_table *table)
{
	kref_put(&table->kref, table_free);
}

/**
 * pxt_table_end() - the first id that no event type has
 * @table: not locked
 *
 * Context: may sleep.
 * Return: the id; all event types have smaller ones.
 */
u32 pxt_table_end(struct pxt_table *table)
{
	u32 end;

	mutex_lock(&table->lock);
	end = table->next;
	mutex_unlock(&table->lock);
	return end;
}

/**
 * pxt_table_has_names() - is there any named event type?
 * @table: a reference, or found under RCU
 *
 * Return: yes or no.
 */
bool pxt_table_has_names(const struct pxt_table *table)
{
	return READ_ONCE(table->next) > FIRST_NAMED;
}

static struct hlist_head *bucket_of(struct pxt_table *table, const char *name)
{
	u32 hash = jhash(name, strlen(name), 0);

	return &table->names[hash >> (32 - PXT_NAME_BITS)];
}

static struct pxt_type *find_name(struct pxt_table *table, const char *name)
{
	struct pxt_type *type;

	hlist_for_each_entry(type, bucket_of(table, name), node) {
		if (!strcmp(type->name, name))
			return type;
	}
	return NULL;
}

static int add_name(struct pxt_table *table, const char *name, u32 *id)
{
	struct pxt_type *type = kzalloc(sizeof(*type), GFP_KERNEL_ACCOUNT);
	struct pxt_target *target;
	int err;

	if (!type)
		return -ENOMEM;
	type->id = table->next;
	strscpy(type->name, name, sizeof(type->name));
	err = xa_err(xa_store(&table->types, type->id, type, GFP_KERNEL_ACCOUNT));
	if (err) {
		kfree(type);
		return err;
	}
	hlist_add_head(&type->node, bucket_of(table, name));
	WRITE_ONCE(table->next, table->next + 1);
	/* Record it from now on, not only after the next START. */
	list_for_each_entry(target, &table->targets, table_node) {
		pxt_gate_set_type(target, type->id);
		cond_resched();
	}
	*id = type->id;
	return 0;
}

/* Not empty, terminated, and followed by zeros only. */
static bool name_valid(const struct posixtrace_eventid *arg)
{
	size_t len = strnlen(arg->name, sizeof(arg->name));

	return len && len < sizeof(arg->name) &&
	       !memchr_inv(arg->name + len, 0, sizeof(arg->name) - len);
}

/**
 * pxt_eventid_open() - the id of a name, new if need be
 * @table: not locked
 * @types: of the kernel, from pxt_kernel_types(); their names come before those of the table
 * @arg: private copy of the argument; gets the id
 *
 * POSIX: posix_trace_eventid_open(), posix_trace_trid_eventid_open(). When all ids are used,
 * @arg gets the id of the unnamed event type.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the name is empty, not terminated, or not followed by zeros; -ENOMEM.
 */
int pxt_eventid_open(struct pxt_table *table, u64 types, struct posixtrace_eventid *arg)
{
	const struct pxt_kernel_type *kernel;
	struct pxt_type *type;
	int err = 0;
	size_t i;

	if (!name_valid(arg) || arg->reserved)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(pxt_predefined); i++) {
		if (!strcmp(pxt_predefined[i].name, arg->name)) {
			arg->id = pxt_predefined[i].id;
			return 0;
		}
	}
	kernel = pxt_kernel_type_named(types, arg->name);
	if (kernel) {
		arg->id = kernel->id;
		return 0;
	}
	mutex_lock(&table->lock);
	type = find_name(table, arg->name);
	if (type)
		arg->id = type->id;
	else if (table->next == POSIXTRACE_ID_MAX)
		arg->id = POSIXTRACE_ID_UNNAMED;
	else
		err = add_name(table, arg->name, &arg->id);
	mutex_unlock(&table->lock);
	return err;
}

static const char *predefined_name(u32 id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pxt_predefined); i++) {
		if (pxt_predefined[i].id == id)
			return pxt_predefined[i].name;
	}
	return NULL;
}

/**
 * pxt_table_has() - is there such an event type?
 * @table: not locked
 * @id: any number
 *
 * Context: may sleep.
 * Return: yes or no.
 */
bool pxt_table_has(struct pxt_table *table, u32 id)
{
	return predefined_name(id) || (id >= FIRST_NAMED && id < pxt_table_end(table));
}

/**
 * pxt_eventid_name() - the name of an id
 * @table: not locked
 * @types: of the kernel, from pxt_kernel_types()
 * @arg: private copy of the argument; gets the name
 *
 * POSIX: posix_trace_eventid_get_name(). Context: may sleep.
 *
 * Return: 0; -EINVAL if there is no such event type.
 */
int pxt_eventid_name(struct pxt_table *table, u64 types, struct posixtrace_eventid *arg)
{
	const struct pxt_kernel_type *kernel = pxt_kernel_type_find(types, arg->id);
	struct pxt_type *type;
	const char *name;

	if (arg->reserved)
		return -EINVAL;
	name = kernel ? kernel->name : predefined_name(arg->id);
	if (!name) {
		mutex_lock(&table->lock);
		type = xa_load(&table->types, arg->id);
		mutex_unlock(&table->lock);
		if (!type)
			return -EINVAL;
		name = type->name;
	}
	strscpy_pad(arg->name, name, sizeof(arg->name));
	return 0;
}

/* The types of the kernel come between the predefined and the named ones. */
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

/**
 * pxt_eventid_list() - the ids of a stream in their fixed order
 * @table: not locked
 * @types: of the kernel, from pxt_kernel_types()
 * @first: how many to leave out
 * @ids: where to write them
 * @count: how many at most
 *
 * Context: may sleep.
 * Return: how many were written.
 */
u32 pxt_eventid_list(struct pxt_table *table, u64 types, u32 first, u32 *ids, u32 count)
{
	const u32 predefined = ARRAY_SIZE(pxt_predefined), kernel = hweight64(types);
	u32 total, n = 0;

	mutex_lock(&table->lock);
	total = predefined + kernel + table->next - FIRST_NAMED;
	mutex_unlock(&table->lock);
	for (; n < count && first < predefined; n++, first++)
		ids[n] = pxt_predefined[array_index_nospec(first, predefined)].id;
	if (n < count && first < predefined + kernel) {
		u32 listed = list_kernel(types, first - predefined, ids + n, count - n);

		n += listed;
		first += listed;
	}
	for (; n < count && first < total; n++, first++)
		ids[n] = FIRST_NAMED + (first - predefined - kernel);
	return n;
}
