/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_EVENTID_H
#define PXT_EVENTID_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

#include <linux/posixtrace.h>

#define PXT_NAME_BITS	6

/**
 * struct pxt_table - event types: names and ids
 * @kref: one per target and stream
 * @rcu: forks read @next under RCU
 * @lock: guards all of this, and of the targets with this table: slots, attachments, and the
 *	words of the gate. Taken inside a stream's lock
 * @targets: pxt_target.table_node: a process and its descendants
 * @attachments: pxt_attachment.node, of all of them
 * @names: named user event types, by hash of the name
 * @types: the same types, by id
 * @next: the next id
 * @described: struct pxt_description of the types that have one, by id
 * @descriptions: the same, in the order in which they were made
 * @descriptions_size: bytes of their texts
 *
 * Types and descriptions are never removed: an id has one meaning as long as the table lives.
 */
struct pxt_table {
	struct kref kref;
	struct rcu_head rcu;
	struct mutex lock;	/* guards all of this, and gates and slots of the targets */
	struct list_head targets;
	struct list_head attachments;
	struct hlist_head names[1 << PXT_NAME_BITS];
	struct xarray types;
	u32 next;
	struct xarray described;
	struct list_head descriptions;
	u32 descriptions_size;
};

/* The first id that no event type has: all have smaller ones. With table->lock. */
static inline u32 pxt_table_end_locked(const struct pxt_table *table)
{
	lockdep_assert_held(&table->lock);
	return table->next;
}

struct pxt_table *pxt_table_new(void);
void pxt_table_get(struct pxt_table *table);
void pxt_table_put(struct pxt_table *table);
u32 pxt_table_end(struct pxt_table *table);
bool pxt_table_has(struct pxt_table *table, u32 id);
bool pxt_table_has_names(const struct pxt_table *table);
int pxt_eventid_open(struct pxt_table *table, u64 types, struct posixtrace_eventid *arg);
int pxt_eventid_name(struct pxt_table *table, u64 types, struct posixtrace_eventid *arg);
u32 pxt_eventid_list(struct pxt_table *table, u64 types, u32 first, u32 *ids, u32 count);

#endif /* PXT_EVENTID_H */
