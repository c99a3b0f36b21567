/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_GATE_H
#define PXT_GATE_H

#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/stddef.h>

#include <linux/posixtrace.h>

#include "target/image.h"

struct pxt_conditions;
struct pxt_pool;
struct pxt_logtasks;
struct pxt_logwakers;
struct pxt_target;

/* Bytes of a gate without the clock; the clock is mapped after it and shared by all gates. */
#define PXT_GATE_SIZE	PAGE_ALIGN(offsetof(struct posixtrace_gate, clock))

/**
 * struct pxt_link - ties a stream to the processes it traces
 * @table: event types of all these processes; a reference of the stream; constant
 * @node: in pxt_table.links
 * @author: the controller, which opens and describes types of the process of CREATE; except for its
 *	constants, under the lock of the table
 * @pool: pool of the stream, to wake its readers and for kernel events; constant
 * @logtasks: names for the log of the stream; NULL without a log; constant
 * @logwakers: for the log, names of threads that are not traced; NULL without a log; constant
 * @kernel_types: bit n: the stream may have kernel event type n; constant
 * @limited: the creator lacked CAP_SYS_RESOURCE; constant
 * @slot: the same in all processes; written under the lock of the table, constant once @linked is
 *	set
 * @linked: it has its slot and may be inherited; under the lock of the table
 * @enabled: the gates are open for it; under the lock of the table
 * @watched: the stream has or had thresholds; never cleared; under the lock of the table, read by
 *	tracepoints without it
 * @conditions: conditions on events, or NULL; under the lock of the table, changed with the lock of
 *	the stream
 * @filter: event types that are not recorded; under the lock of the table. The bits of the system
 *	events are also written under the lock of the stream, and read under either
 * @nr_targets: traced processes, and children that will be traced but have not run yet
 *
 * Part of struct pxt_stream, which sets the constant fields. gate.c writes the others, and
 * task/fork.c counts children in @nr_targets.
 */
struct pxt_link {
	struct pxt_table *table;
	struct list_head node;
	struct pxt_author author;
	struct pxt_pool *pool;
	struct pxt_logtasks *logtasks;
	struct pxt_logwakers *logwakers;
	u64 kernel_types;
	bool limited;
	u32 slot;
	bool linked;
	bool enabled;
	bool watched;
	struct pxt_conditions *conditions;
	struct posixtrace_event_set filter;
	atomic_t nr_targets;
};

/* Called with the lock of the table; for system events, the lock of the stream suffices. */
static inline bool pxt_link_filters(const struct pxt_link *link, u32 id)
{
	return link->filter.bits[id / 64] & BIT_ULL(id % 64);
}

int pxt_gate_make(struct pxt_target *target);
void pxt_gate_note_program(struct pxt_target *target, const struct mm_struct *mm);
void pxt_gate_outdate(struct pxt_target *target);
u32 pxt_gate_count_logs(const struct pxt_target *target);
void pxt_gate_thread_born(struct pxt_target *target);
void pxt_gate_thread_renamed(struct pxt_target *target, struct task_struct *task,
			     const char *comm);
void pxt_gate_thread_ends(struct pxt_target *target, struct task_struct *task);
int pxt_gate_link(struct pxt_target *target, struct pxt_link *link, struct hlist_head *memory);
int pxt_gate_add(struct pxt_target *target, struct pxt_link *link, struct hlist_head *memory);
int pxt_gate_inherit(struct pxt_target *target, struct pxt_link *link);
void pxt_gate_gone(struct pxt_link *link);
void pxt_gate_open(struct pxt_target *target);
void pxt_gate_leave(struct pxt_target *target, struct pxt_link *link);
void pxt_gate_unlink(struct pxt_link *link);
void pxt_gate_set_enabled(struct pxt_link *link, bool on);
void pxt_gate_watch(struct pxt_link *link);
void pxt_gate_set_filter(struct pxt_link *link, const struct posixtrace_event_set *filter,
			 u32 known);
u32 pxt_gate_get_filter(struct pxt_link *link, struct posixtrace_event_set *filter);
void pxt_gate_new_type(struct pxt_table *table, const struct pxt_type *type);
void pxt_gate_learned(struct pxt_table *table, const struct pxt_type *type);
void pxt_gate_set_conditions(struct pxt_link *link, struct pxt_conditions *conditions);
void pxt_gate_not_pending(struct pxt_link *link);
void pxt_gate_synchronize(struct pxt_link *link);
bool pxt_gate_try_synchronize(struct pxt_link *link);

#endif /* PXT_GATE_H */
