/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGTASKS_H
#define PXT_LOGTASKS_H

#include <linux/list.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "target/text.h"

struct pxt_target;

#define PXT_LOGTASKS_BITS	8
/* Threads that the log takes per batch. */
#define PXT_LOGTASKS_BATCH	24
/* Unwritten names kept per thread. */
#define PXT_LOGTASK_NAMES	4
/* Memory that pxt_logtasks_executed() may need for one stream, in threads. */
#define PXT_LOGTASKS_EXECUTED	2

struct pxt_logtask_name {
	u64 since;
	char comm[TASK_COMM_LEN];
};

/**
 * struct pxt_logtask - a thread
 * @node: in pxt_logtasks.threads
 * @list: in pxt_logtasks.live if data is to be written; after its end in pxt_logtasks.ended, later
 *	or kept
 * @pid: pid of the thread; a reference
 * @tgid: pid of its process; a reference
 * @mm: its address space, only to be compared: a different one means that it is executing a program
 * @start: time of its creation, ns since the Epoch
 * @executes: when it got the name of the program it is executing, ns since the Epoch, or 0
 * @name: the last names, oldest first; the first one always exists; if empty, it stands for several
 *	forgotten names
 * @unwritten: number of names to write
 * @changes: incremented with each new name or text
 * @looks: pxt_target.looks when the stream began to trace the process; this log must not contain
 *	mappings that were last found before that
 * @text: texts about the process, for the main thread; references or NULL
 * @text_since: start of their validity, ns since the Epoch
 * @text_unwritten: the text must be written
 * @has_ended: it is in one of the lists of ended threads
 * @busy: the task that serves the log is writing it, and will give it back or free it
 * @round: pxt_logtasks.round when it entered or was last given back
 *
 * Guarded by pxt_logtasks.lock while in the table; the references, @start and @looks are constant.
 */
struct pxt_logtask {
	struct hlist_node node;
	struct list_head list;
	struct pid *pid;
	struct pid *tgid;
	const void *mm;
	u64 start;
	u64 executes;
	struct pxt_logtask_name name[PXT_LOGTASK_NAMES];
	u32 unwritten;
	u32 changes;
	u32 looks;
	struct pxt_text *text[PXT_TEXTS];
	u64 text_since[PXT_TEXTS];
	bool text_unwritten[PXT_TEXTS];
	bool has_ended;
	bool busy;
	u64 round;
};

/* The current name of the thread. */
static inline struct pxt_logtask_name *pxt_logtask_last_name(struct pxt_logtask *thread)
{
	return &thread->name[thread->unwritten ? thread->unwritten - 1 : 0];
}

/**
 * struct pxt_logtask_taken - a thread that is being written to the log
 * @thread: the taken thread
 * @changes: pxt_logtask.changes when it was taken
 * @looks: pxt_logtask.looks
 * @since: start of the validity of each text, ns since the Epoch
 * @text: texts to write, references; or NULL
 */
struct pxt_logtask_taken {
	struct pxt_logtask *thread;
	u32 changes;
	u32 looks;
	u64 since[PXT_TEXTS];
	struct pxt_text *text[PXT_TEXTS];
};

/**
 * struct pxt_logtasks - names of the threads and processes traced by a stream with a log
 * @rcu: tracepoints find it under RCU
 * @lock: guards the next fields; raw, because tracepoints take it; an innermost lock
 * @threads: struct pxt_logtask, by hash of the thread's struct pid
 * @live: running threads with data to be written
 * @ended: ended threads, oldest first: removed once they are written
 * @later: ended threads that must not be taken in this round; the next round moves them to @ended
 * @kept: ended threads that are written, and that the next file needs as well
 * @ended_cost: total cost of the threads in these three lists
 * @round: number of the current round, see pxt_logtasks_begin()
 * @keeps_ended: ended threads go to @kept after they are written
 * @taken: threads being written; used only by the task that serves the log
 * @nr_taken: entries of @taken; used only by the task that serves the log
 *
 * Lives as long as its stream. Threads enter it in their own context or the context of CREATE;
 * tracepoints note names and exits; the task that serves the log removes threads.
 */
struct pxt_logtasks {
	struct rcu_head rcu;
	raw_spinlock_t lock;	/* guards the lists and all threads in them */
	struct hlist_head threads[1 << PXT_LOGTASKS_BITS];
	struct list_head live;
	struct list_head ended;
	struct list_head later;
	struct list_head kept;
	u32 ended_cost;
	u64 round;
	bool keeps_ended;
	struct pxt_logtask_taken taken[PXT_LOGTASKS_BATCH];
	u32 nr_taken;
};

struct pxt_logtasks *pxt_logtasks_new(void);
void pxt_logtasks_free(struct pxt_logtasks *tasks);

void pxt_logtasks_prepare(struct hlist_head *memory, u32 count);
void pxt_logtasks_unprepare(struct hlist_head *memory);
void pxt_logtasks_enter(struct pxt_logtasks *tasks, struct pxt_target *target,
			struct hlist_head *memory);
void pxt_logtasks_leave(struct pxt_logtasks *tasks, const struct pxt_target *target);
void pxt_logtasks_born(struct pxt_logtasks *tasks, struct pxt_target *target,
		       struct hlist_head *memory);
void pxt_logtasks_executed(struct pxt_logtasks *tasks, struct pxt_target *target,
			   struct hlist_head *memory);
void pxt_logtasks_looked(struct pxt_logtasks *tasks, struct pxt_target *target,
			 struct hlist_head *memory);
void pxt_logtasks_renamed(struct pxt_logtasks *tasks, struct task_struct *task, const char *comm);
void pxt_logtasks_keep_ended(struct pxt_logtasks *tasks, bool keep);
void pxt_logtasks_ends(struct pxt_logtasks *tasks, struct task_struct *task);

/* For logthread/taskblocks.c: */
void pxt_logtask_free(struct pxt_logtask *thread);
void pxt_logtasks_remove(struct pxt_logtasks *tasks, struct pxt_logtask *thread);
void pxt_logtasks_note_news(struct pxt_logtasks *tasks, struct pxt_logtask *thread);

#endif /* PXT_LOGTASKS_H */
