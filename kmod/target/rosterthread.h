/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ROSTERTHREAD_H
#define PXT_ROSTERTHREAD_H

#include "target/roster.h"

struct pxt_roster_name {
	u64 since;
	char comm[TASK_COMM_LEN];
};

/**
 * struct pxt_roster_thread - a thread
 * @node: in pxt_roster.threads
 * @list: in pxt_roster.live if there is something to be written, or in pxt_roster.ended
 * @pid: of the thread; a reference
 * @tgid: of its process; a reference
 * @mm: its address space, only to be compared: with another one, it executes a program
 * @start: when it was born, ns since the Epoch
 * @name: the last names, oldest first; the first one always is there, but stands for several that
 *	are not known any more if it is empty
 * @unwritten: how many of them have to be written
 * @changes: incremented with each new name or text
 * @looks: pxt_target.looks when the stream began to trace the process: what the process saw at
 *	earlier looks only is not for this log
 * @text: what there is to say about the process, for the main thread; references or NULL
 * @text_since: from when on, ns since the Epoch
 * @text_unwritten: it has to be written
 * @has_ended: it is in pxt_roster.ended
 * @busy: the log thread is writing it, and frees it
 * @round: pxt_roster.round when it entered, or was given back last
 *
 * Guarded by the lock of the roster once it is there; the references, @start and @looks
 * are constant.
 */
struct pxt_roster_thread {
	struct hlist_node node;
	struct list_head list;
	struct pid *pid;
	struct pid *tgid;
	const void *mm;
	u64 start;
	struct pxt_roster_name name[PXT_ROSTER_NAMES];
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

/* The name that it has now. */
static inline struct pxt_roster_name *pxt_roster_last_name(struct pxt_roster_thread *thread)
{
	return &thread->name[thread->unwritten ? thread->unwritten - 1 : 0];
}

/* roster.c, for logthread/rosterlog.c */
void pxt_roster_thread_free(struct pxt_roster_thread *thread);
void pxt_roster_take_out(struct pxt_roster *roster, struct pxt_roster_thread *thread);
void pxt_roster_note_news(struct pxt_roster *roster, struct pxt_roster_thread *thread);

#endif /* PXT_ROSTERTHREAD_H */
