/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_STREAM_H
#define PXT_STREAM_H

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "ring/pool.h"
#include "ring/user.h"
#include "target/gate.h"
#include "target/target.h"

/**
 * struct pxt_stream - an active trace stream
 * @kref: its file, its mappings, those who record into it right now
 * @rcu: recording and pxt_stream_end_owner() look at it under RCU
 * @node: in the list of all streams, under its lock and RCU
 * @owner: thread group of the controller
 * @cred: of the controller, when it called CREATE; constant
 * @ns: pid namespace of the controller
 * @file: cleared when it is released; read under RCU by pxt_stream_end_owner()
 * @end_work: shuts down and waits when the controller closes, executes a program or ends
 * @end_pending: bit 0: @end_work is queued or runs
 * @number: no two streams have the same
 * @index: its place among the mapping offsets, smaller than POSIXTRACE_STREAMS_MAX
 * @charge: what it costs its creator: until shutdown, and the scratch pages until nobody
 *	has a mapping any more
 * @attr: as granted; constant
 * @link: to the processes that it traces
 * @mapped: how many mappings of its memory traced processes have, or had and handed
 *	to others
 * @scratch: who needs the scratch pages: its mappings, and the stream itself until its
 *	memory is freed
 * @untraced: children that should be traced, but are not
 * @lock: guards the states that follow, and who may write system events
 * @dead: shut down; also read without the lock
 * @running: neither suspended nor full
 * @full: not LOOP: suspended itself for want of memory; also read without lock
 * @overrun: to be reported besides what the pool knows
 * @lost_seen: what was lost when the status was asked for
 * @look: looks for what nobody was told of, while pxt_pool.need_wakeup is set
 * @pool: its memory
 * @log: or NULL; constant
 */
struct pxt_stream {
	struct kref kref;
	struct rcu_head rcu;
	struct list_head node;
	struct pid *owner;
	const struct cred *cred;
	struct pid_namespace *ns;
	struct file *file;
	struct callback_head end_work;
	unsigned long end_pending;
	u64 number;
	u32 index;
	struct pxt_charge charge;
	struct posixtrace_attr attr;
	struct pxt_link link;
	atomic_t mapped;
	refcount_t scratch;
	atomic_t untraced;

	struct mutex lock;	/* guards the states, and who writes system events */
	bool dead;
	bool running;
	bool full;
	bool overrun;
	u64 lost_seen;
	struct delayed_work look;
	struct pxt_pool pool;
	struct pxt_log *log;
};

static inline struct pxt_stream *pxt_stream_of(struct pxt_link *link)
{
	return link ? container_of(link, struct pxt_stream, link) : NULL;
}

/* The stream in a slot of a target, or NULL. Under RCU. */
static inline struct pxt_stream *pxt_stream_in(const struct pxt_target *target, u32 slot)
{
	return pxt_stream_of(rcu_dereference(target->slot[slot]));
}

/* The same with the lock of the table. */
static inline struct pxt_stream *pxt_stream_in_locked(const struct pxt_target *target, u32 slot)
{
	return pxt_stream_of(rcu_dereference_protected(target->slot[slot],
						       lockdep_is_held(&target->table->lock)));
}

/* Mapping offsets: the gate is at 0, each stream has 16 GiB of its own. */
#define PXT_MAP_SHIFT	34

static inline u64 pxt_stream_map_base(const struct pxt_stream *stream)
{
	return (u64)(stream->index + 1) << PXT_MAP_SHIFT;
}

struct pxt_stream *pxt_stream_new(const struct posixtrace_attr *attr, struct pxt_table *table,
				  struct file *file, int log_fd);
int pxt_stream_publish(struct pxt_stream *stream, struct pxt_target *target);
void pxt_stream_destroy_memory(struct pxt_stream *stream);
void pxt_stream_forget_file(struct pxt_stream *stream);
void pxt_stream_put(struct pxt_stream *stream);
void pxt_stream_put_scratch(struct pxt_stream *stream);
void pxt_stream_for_each(void (*fn)(struct pxt_stream *stream, void *arg), void *arg);

#endif /* PXT_STREAM_H */
