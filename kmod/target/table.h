/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TABLE_H
#define PXT_TABLE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include <linux/posixtrace.h>

#include "target/image.h"

struct cred;
struct pxt_description;
struct pxt_link;

/* Smaller ids are predefined. */
#define PXT_FIRST_NAMED	(POSIXTRACE_ID_UNNAMED + 1)
#define PXT_NAMED_MAX	(POSIXTRACE_ID_MAX - PXT_FIRST_NAMED)

#define PXT_NAME_BITS	6
#define PXT_CHUNK_SIZE	64

/**
 * struct pxt_type - a named user event type
 * @bucket_node: in pxt_table.names
 * @node: in pxt_table.types
 * @cred: credentials of the process that opened the name first, at that time; a reference
 * @opener: its pxt_author.process
 * @description: or NULL; owned by the type
 * @images: number of images that contain it
 * @opened: has ever been in an image
 * @bare: can no longer be described: two images have known it, possibly one after the other, or it
 *	is used by a trace point without fields
 * @guest: opened first by a guest
 * @id: its id
 * @like: id of an older type with this name that it inherited the filter bit from, or 0
 * @name: NUL-terminated
 *
 * Constant except for @description, @images, @opened and @bare, which are under the lock of the
 * table. Lives as long as an image knows it or a stream is on the table.
 */
struct pxt_type {
	struct hlist_node bucket_node;
	struct list_head node;
	const struct cred *cred;
	u64 opener;
	struct pxt_description *description;
	u32 images;
	bool opened;
	bool bare;
	bool guest;
	u32 id;
	u32 like;
	char name[POSIXTRACE_EVENT_NAME_SIZE];
};

/**
 * struct pxt_chunk - pointers to types with consecutive ids
 * @type: the type, or NULL
 */
struct pxt_chunk {
	struct pxt_type *type[PXT_CHUNK_SIZE];
};

/**
 * struct pxt_table - event types: names and ids
 * @kref: one per target and stream
 * @rcu: forks read @count under RCU
 * @lock: guards everything here, and slots, attachments and gate words of the targets with this
 *	table. Taken inside a stream's lock
 * @targets: pxt_target.table_node: a process, its descendants, and those added to its streams
 * @links: pxt_link.node of all streams with this table, including ended ones
 * @attachments: pxt_attachment.node of all targets
 * @names: named user event types, by hash of the name
 * @types: the same types, in the order of creation
 * @chunk: the same types, by id
 * @count: number of types
 * @end: all ids in use are smaller
 * @low: all smaller ids are in use
 * @descriptions: struct pxt_description of described types, in the order of creation
 * @descriptions_size: bytes of their texts
 * @cred: credentials of the first process of the family when a second one came, by fork or ADD;
 *	NULL until then. A reference; written once, atomically
 * @guests: resources used by all guests together
 *
 * While a stream is on the table, types and descriptions are never removed, so that each id has a
 * single meaning for its reader. When the last stream has left, types that no image knows are
 * freed, and their ids reused. The holder of @lock never allocates memory: a memory cgroup may make
 * its processes wait for memory, but must not delay others that need the lock.
 */
struct pxt_table {
	struct kref kref;
	struct rcu_head rcu;
	struct mutex lock;	/* guards everything here, and gates and slots of the targets */
	struct list_head targets;
	struct list_head links;
	struct list_head attachments;
	struct hlist_head names[1 << PXT_NAME_BITS];
	struct list_head types;
	struct pxt_chunk *chunk[POSIXTRACE_ID_MAX / PXT_CHUNK_SIZE];
	u32 count;
	u32 end;
	u32 low;
	struct list_head descriptions;
	u32 descriptions_size;
	const struct cred *cred;
	struct pxt_guest guests;
};

/* The first id above all event types. Called with table->lock. */
static inline u32 pxt_table_end_locked(const struct pxt_table *table)
{
	lockdep_assert_held(&table->lock);
	return table->end;
}

/* A predefined type; it is part of every table. */
struct pxt_predefined {
	u32 id;
	const char *name;
};

#define PXT_PREDEFINED	9

extern const struct pxt_predefined pxt_predefined[PXT_PREDEFINED];

const char *pxt_predefined_name(u32 id);
struct pxt_table *pxt_table_new(void);
void pxt_table_get(struct pxt_table *table);
void pxt_table_put(struct pxt_table *table);
void pxt_table_enter(struct pxt_table *table, struct pxt_link *link);
void pxt_table_leave(struct pxt_link *link);
bool pxt_table_has_names(const struct pxt_table *table);
void pxt_table_note_first(struct pxt_table *table, const struct cred *cred);
bool pxt_table_is_guest(const struct pxt_table *table);
struct pxt_type *pxt_type_of(struct pxt_table *table, u32 id);
void pxt_type_free(struct pxt_table *table, struct pxt_type *type);

#endif /* PXT_TABLE_H */
