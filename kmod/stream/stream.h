/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_STREAM_H
#define PXT_STREAM_H

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "ring/pool.h"
#include "ring/user.h"
#include "stream/trigger.h"
#include "target/gate.h"
#include "target/target.h"

/**
 * struct pxt_stream - an active trace stream
 */
struct pxt_stream {
	/** @kref: held by its file, its mappings, its log thread, and active writers */
	struct kref kref;
	/** @rcu: recording and pxt_stream_end_owner() find it under RCU */
	struct rcu_head rcu;

	/* Constant after CREATE: */
	/** @owner: thread group of the controller */
	struct pid *owner;
	/** @cred: credentials of the controller at CREATE */
	const struct cred *cred;
	/** @power: at CREATE, the controller had CAP_SYS_PTRACE in its user namespace */
	bool power;
	/** @ns: pid namespace of the controller */
	struct pid_namespace *ns;
	/** @number: unique among all present and past streams */
	u64 number;
	/** @index: its place among the mapping offsets, below POSIXTRACE_STREAMS_MAX */
	u32 index;
	/** @attr: attributes as granted */
	struct posixtrace_attr attr;
	/** @handled: classes with handlers acquired by CREATE; 0 if it failed earlier */
	u64 handled;
	/** @log: its log, or NULL */
	struct pxt_log *log;
	/** @memory: the file held by mappings of targets: a reference; NULL if CREATE failed */
	struct file *memory;

	/** @node: in the list of all streams, under the lock of the list; read under RCU */
	struct list_head node;
	/** @file: cleared when it is released; pxt_stream_end_owner() reads it under RCU */
	struct file *file;
	/** @end_work: ends the stream when the controller closes it, calls exec or exits */
	struct callback_head end_work;
	/** @end_pending: bit 0, atomic: @end_work is queued or runs */
	unsigned long end_pending;
	/**
	 * @charge: resources charged to its creator until the memory is freed; for the scratch
	 * pages, until the last mapping is gone
	 */
	struct pxt_charge charge;

	/* Atomic: */
	/**
	 * @mapped: mappings of its memory by traced processes, including those that children
	 * inherited
	 */
	atomic_t mapped;
	/**
	 * @scratch: references to the scratch pages: one per mapping, and one until the memory is
	 * freed
	 */
	refcount_t scratch;
	/** @untraced: children that should be traced but are not */
	atomic_t untraced;

	/** @lock: guards the next fields; its holder may write system events */
	struct mutex lock;
	/** @dead: shut down; also read without the lock */
	bool dead;
	/** @running: neither suspended nor full */
	bool running;
	/**
	 * @full: suspended because memory ran out (not LOOP), or because the log is full; also read
	 * without the lock
	 */
	bool full;
	/** @overrun: an overrun to be reported, in addition to pxt_pool.overrun */
	bool overrun;
	/** @lost_seen: lost events at the last GET_STATUS */
	u64 lost_seen;

	/* For kernel events: */
	/**
	 * @kernel_todo: bits PXT_RECORDER_*, atomic: set by tracepoints, consumed by @kernel_irq
	 */
	atomic_long_t kernel_todo;
	/** @kernel_irq: work that tracepoints must not do */
	struct irq_work kernel_irq;
	/** @kernel_work: work that may sleep, with @lock */
	struct work_struct kernel_work;

	/** @trigger: conditions on its threads, and whether they were met */
	struct pxt_trigger trigger;

	/** @look: checks for records of writers that did not call WAKE, while need_wakeup is set */
	struct delayed_work look;

	/* With separate locks: */
	/** @link: ties it to the processes it traces */
	struct pxt_link link;
	/** @pool: its memory */
	struct pxt_pool pool;
};

static inline struct pxt_stream *pxt_stream_of(struct pxt_link *link)
{
	return link ? container_of(link, struct pxt_stream, link) : NULL;
}

/* The stream in a slot of a target, or NULL. Called under RCU. */
static inline struct pxt_stream *pxt_stream_in(const struct pxt_target *target, u32 slot)
{
	return pxt_stream_of(rcu_dereference_check(target->slot[slot], rcu_read_lock_any_held()));
}

/* The same, with the lock of the table. */
static inline struct pxt_stream *pxt_stream_in_locked(const struct pxt_target *target, u32 slot)
{
	return pxt_stream_of(rcu_dereference_protected(target->slot[slot],
						       lockdep_is_held(&target->table->lock)));
}

/* The same, with a reference. */
static inline struct pxt_stream *pxt_stream_get_in(const struct pxt_target *target, u32 slot)
{
	struct pxt_stream *stream;

	rcu_read_lock();
	stream = pxt_stream_in(target, slot);
	if (stream && !kref_get_unless_zero(&stream->kref))
		stream = NULL;
	rcu_read_unlock();
	return stream;
}

/* Mapping offsets: the gate is at 0, each stream has a separate range of 16 GiB. */
#define PXT_MAP_SHIFT	34

static inline u64 pxt_stream_map_base(const struct pxt_stream *stream)
{
	return (u64)(stream->index + 1) << PXT_MAP_SHIFT;
}

struct pxt_stream *pxt_stream_new(const struct posixtrace_attr *attr, struct pxt_table *table,
				  struct file *file, int log_fd);
int pxt_stream_publish(struct pxt_stream *stream, struct pxt_target *target,
		       struct hlist_head *memory);
void pxt_stream_destroy_memory(struct pxt_stream *stream);
void pxt_stream_forget_file(struct pxt_stream *stream);
void pxt_stream_put(struct pxt_stream *stream);
void pxt_stream_put_scratch(struct pxt_stream *stream);
void pxt_stream_init(void);
void pxt_stream_for_each(void (*fn)(struct pxt_stream *stream, void *arg), void *arg);

#endif /* PXT_STREAM_H */
