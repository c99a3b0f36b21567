/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ROSTER_H
#define PXT_ROSTER_H

#include <linux/list.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "target/text.h"

struct pxt_roster_thread;
struct pxt_target;

#define PXT_ROSTER_BITS		8
/* Threads that the log takes over at once. */
#define PXT_ROSTER_BATCH	24
/* Names of a thread that can wait to be written. */
#define PXT_ROSTER_NAMES	4
/* Memory that pxt_roster_executed() may take of one roster, in threads. */
#define PXT_ROSTER_EXECUTED	2

/**
 * struct pxt_roster_taken - a thread that is being written to the log
 * @thread: the thread
 * @changes: pxt_roster_thread.changes when it was taken
 * @looks: pxt_roster_thread.looks
 * @since: from when on each text holds, ns since the Epoch
 * @text: those that have to be written: references; or NULL
 */
struct pxt_roster_taken {
	struct pxt_roster_thread *thread;
	u32 changes;
	u32 looks;
	u64 since[PXT_TEXTS];
	struct pxt_text *text[PXT_TEXTS];
};

/**
 * struct pxt_roster - names of the threads and processes that a stream with log traces
 * @rcu: tracepoints find it under RCU
 * @lock: guards the next fields; raw, because tracepoints take it; an innermost lock
 * @threads: struct pxt_roster_thread, by hash of the thread's struct pid
 * @live: threads that have not ended, and have something to be written
 * @ended: threads that have ended, oldest first: they go once they were written
 * @ended_cost: what the threads in @ended cost together
 * @round: number of the flush
 * @taken: what is being written; used by the log thread only
 * @nr_taken: how many; used by the log thread only
 *
 * Lives as long as its stream. Threads enter it in their own context, or in that of CREATE;
 * tracepoints write names and ends; the log thread takes them out.
 */
struct pxt_roster {
	struct rcu_head rcu;
	raw_spinlock_t lock;	/* guards the lists and all threads in them */
	struct hlist_head threads[1 << PXT_ROSTER_BITS];
	struct list_head live;
	struct list_head ended;
	u32 ended_cost;
	u64 round;
	struct pxt_roster_taken taken[PXT_ROSTER_BATCH];
	u32 nr_taken;
};

struct pxt_roster *pxt_roster_new(void);
void pxt_roster_free(struct pxt_roster *roster);

void pxt_roster_prepare(struct hlist_head *memory, u32 count);
void pxt_roster_unprepare(struct hlist_head *memory);
void pxt_roster_enter(struct pxt_roster *roster, struct pxt_target *target,
		      struct hlist_head *memory);
void pxt_roster_leave(struct pxt_roster *roster, const struct pxt_target *target);
void pxt_roster_born(struct pxt_roster *roster, struct pxt_target *target,
		     struct hlist_head *memory);
void pxt_roster_executed(struct pxt_roster *roster, struct pxt_target *target,
			 struct hlist_head *memory);
void pxt_roster_looked(struct pxt_roster *roster, struct pxt_target *target,
		       struct hlist_head *memory);
void pxt_roster_renamed(struct pxt_roster *roster, struct task_struct *task, const char *comm);
void pxt_roster_ends(struct pxt_roster *roster, struct task_struct *task);

#endif /* PXT_ROSTER_H */
