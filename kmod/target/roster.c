// SPDX-License-Identifier: GPL-2.0
/*
 * The roster of a stream with log: names of its threads and processes, for the log. Events carry
 * numbers only, and when a reader opens the log, the threads may long be gone.
 *
 * A thread keeps its last names until they are written. When it has ended, it stays until the log
 * thread has written it, but no more than some thousands do: the oldest go first.
 */
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "ring/clock.h"
#include "target/rosterthread.h"
#include "target/target.h"

/* What may wait in pxt_roster.ended: see cost_of(). With texts, this is about a megabyte. */
#define ENDED_COST_MAX	4096

/**
 * pxt_roster_new() - an empty roster
 *
 * Context: may sleep.
 * Return: it, or NULL if there is no memory.
 */
struct pxt_roster *pxt_roster_new(void)
{
	struct pxt_roster *roster = kzalloc(sizeof(*roster), GFP_KERNEL_ACCOUNT);

	if (!roster)
		return NULL;
	raw_spin_lock_init(&roster->lock);
	INIT_LIST_HEAD(&roster->live);
	INIT_LIST_HEAD(&roster->ended);
	return roster;
}

/**
 * pxt_roster_thread_free() - free a thread
 * @thread: not in a roster, or not any more
 *
 * Context: may sleep.
 */
void pxt_roster_thread_free(struct pxt_roster_thread *thread)
{
	u32 i;

	for (i = 0; i < PXT_TEXTS; i++)
		pxt_text_put(thread->text[i]);
	put_pid(thread->pid);
	put_pid(thread->tgid);
	kfree(thread);
}

static struct pxt_roster_thread *thread_new(gfp_t gfp)
{
	struct pxt_roster_thread *thread = kzalloc(sizeof(*thread), gfp | __GFP_NOWARN);

	if (thread)
		INIT_LIST_HEAD(&thread->list);
	return thread;
}

static struct hlist_head *bucket_of(struct pxt_roster *roster, const struct pid *pid)
{
	return &roster->threads[hash_ptr(pid, PXT_ROSTER_BITS)];
}

static struct pxt_roster_thread *find(struct pxt_roster *roster, const struct pid *pid)
{
	struct pxt_roster_thread *thread;

	lockdep_assert_held(&roster->lock);
	hlist_for_each_entry(thread, bucket_of(roster, pid), node) {
		if (thread->pid == pid)
			return thread;
	}
	return NULL;
}

/* A text counts for as many threads as fit into its memory. */
static u32 cost_of(const struct pxt_roster_thread *thread)
{
	u32 cost = 1, i;

	for (i = 0; i < PXT_TEXTS; i++)
		cost += thread->text[i] ? thread->text[i]->size / 256 : 0;
	return cost;
}

/**
 * pxt_roster_take_out() - take a thread out, to be freed without the lock
 * @roster: locked
 * @thread: in it
 */
void pxt_roster_take_out(struct pxt_roster *roster, struct pxt_roster_thread *thread)
{
	lockdep_assert_held(&roster->lock);
	if (thread->has_ended)
		roster->ended_cost -= cost_of(thread);
	list_del_init(&thread->list);
	hlist_del_init(&thread->node);
}

/**
 * pxt_roster_note_news() - note that there is something to be written
 * @roster: locked
 * @thread: in it
 */
void pxt_roster_note_news(struct pxt_roster *roster, struct pxt_roster_thread *thread)
{
	thread->changes++;
	if (!thread->has_ended && list_empty(&thread->list))
		list_add_tail(&thread->list, &roster->live);
}

/* @comm has TASK_COMM_LEN bytes, with a NUL. */
static void set_name(struct pxt_roster *roster, struct pxt_roster_thread *thread, const char *comm)
{
	struct pxt_roster_name *name = thread->name;

	lockdep_assert_held(&roster->lock);
	if (!strncmp(pxt_roster_last_name(thread)->comm, comm, TASK_COMM_LEN))
		return;
	if (thread->unwritten == PXT_ROSTER_NAMES) {
		memmove(name, name + 1, sizeof(thread->name) - sizeof(*name));
		thread->unwritten--;
	}
	name += thread->unwritten++;
	strscpy_pad(name->comm, comm, sizeof(name->comm));
	name->since = pxt_clock_now();
	pxt_roster_note_news(roster, thread);
}

static void set_ended(struct pxt_roster *roster, struct pxt_roster_thread *thread)
{
	lockdep_assert_held(&roster->lock);
	if (thread->has_ended)
		return;
	thread->has_ended = true;
	roster->ended_cost += cost_of(thread);
	list_move_tail(&thread->list, &roster->ended);
}

/* The oldest thread that has ended, if too many have; out of the roster. */
static struct pxt_roster_thread *take_surplus(struct pxt_roster *roster)
{
	struct pxt_roster_thread *thread;

	if (roster->ended_cost <= ENDED_COST_MAX)
		return NULL;
	list_for_each_entry(thread, &roster->ended, list) {
		/* At most PXT_ROSTER_BATCH are. */
		if (thread->busy)
			continue;
		pxt_roster_take_out(roster, thread);
		return thread;
	}
	return NULL;
}

static void free_surplus(struct pxt_roster *roster)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;

	do {
		raw_spin_lock_irqsave(&roster->lock, flags);
		thread = take_surplus(roster);
		raw_spin_unlock_irqrestore(&roster->lock, flags);
		if (thread)
			pxt_roster_thread_free(thread);
	} while (thread);
}

/* The first one of a bucket, or of a list; out of the roster. */
static struct pxt_roster_thread *take_first(struct pxt_roster *roster, struct hlist_head *bucket,
					    struct list_head *list)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&roster->lock, flags);
	if (bucket)
		thread = hlist_entry_safe(bucket->first, struct pxt_roster_thread, node);
	else
		thread = list_first_entry_or_null(list, struct pxt_roster_thread, list);
	if (thread)
		pxt_roster_take_out(roster, thread);
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	return thread;
}

/**
 * pxt_roster_free() - end of pxt_roster_new()
 * @roster: no thread enters it any more; may be NULL
 *
 * Tracepoints may still look for threads, and find none. Context: may sleep.
 */
void pxt_roster_free(struct pxt_roster *roster)
{
	struct pxt_roster_thread *thread;
	u32 i;

	if (!roster)
		return;
	for (i = 0; i < ARRAY_SIZE(roster->threads); i++) {
		while ((thread = take_first(roster, &roster->threads[i], NULL)))
			pxt_roster_thread_free(thread);
		cond_resched();
	}
	/* Some are only there: see replace_current(). */
	while ((thread = take_first(roster, NULL, &roster->ended)))
		pxt_roster_thread_free(thread);
	kfree_rcu(roster, rcu);
}

/* ------------------------------------------------------------------ */
/* Threads enter							*/

/* Fills in all but the texts. */
static void fill(struct pxt_roster_thread *thread, struct task_struct *task, struct pid *tgid)
{
	thread->pid = get_task_pid(task, PIDTYPE_PID);
	thread->tgid = get_pid(tgid);
	thread->mm = READ_ONCE(task->mm);
	thread->start = ktime_to_ns(ktime_mono_to_real(ns_to_ktime(task->start_time)));
	thread->name[0].since = thread->start;
	get_task_comm(thread->name[0].comm, task);
	thread->unwritten = 1;
}

/* Adds @thread, filled in from @task. Returns what the caller has to free, or NULL. */
static struct pxt_roster_thread *insert(struct pxt_roster *roster,
					struct pxt_roster_thread *thread,
					const struct task_struct *task)
{
	struct pxt_roster_thread *surplus = thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&roster->lock, flags);
	/* Without a pid, it has ended and was reaped. */
	if (thread->pid && !find(roster, thread->pid)) {
		thread->round = roster->round;
		hlist_add_head(&thread->node, bucket_of(roster, thread->pid));
		list_add_tail(&thread->list, &roster->live);
		/* pxt_roster_ends() came too early: the flag is set before the tracepoint. */
		if (READ_ONCE(task->flags) & PF_EXITING)
			set_ended(roster, thread);
		surplus = NULL;
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	return surplus;
}

/* Notes a text of a target, which its table guards. The main thread may be gone. */
static void set_text(struct pxt_roster *roster, const struct pxt_target *target,
		     enum pxt_text_kind kind, bool born)
{
	struct pxt_text *text = target->text[kind];
	struct pxt_roster_thread *thread;
	unsigned long flags;

	lockdep_assert_held(&target->table->lock);
	if (!text)
		return;
	pxt_text_get(text);
	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, target->pid);
	if (thread) {
		if (thread->has_ended)
			roster->ended_cost -= cost_of(thread);
		swap(thread->text[kind], text);
		if (thread->has_ended)
			roster->ended_cost += cost_of(thread);
		thread->text_since[kind] = born ? thread->start : pxt_clock_now();
		thread->text_unwritten[kind] = true;
		pxt_roster_note_news(roster, thread);
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	pxt_text_put(text);
}

/* Memory for the threads of a process, as a list. */
static void allocate(struct hlist_head *list, u32 count)
{
	struct pxt_roster_thread *thread;

	for (; count; count--) {
		thread = thread_new(GFP_KERNEL_ACCOUNT);
		if (!thread)
			return;
		hlist_add_head(&thread->node, list);
		cond_resched();
	}
}

static struct pxt_roster_thread *pop(struct hlist_head *list)
{
	struct pxt_roster_thread *thread = hlist_entry_safe(list->first,
							    struct pxt_roster_thread, node);

	if (thread)
		hlist_del_init(&thread->node);
	return thread;
}

/* Threads that are born meanwhile enter by themselves. */
static void enter_all(struct pxt_roster *roster, struct task_struct *process, struct pid *tgid,
		      struct hlist_head *memory)
{
	struct pxt_roster_thread *thread;
	struct task_struct *task;

	rcu_read_lock();
	for_each_thread(process, task) {
		if (task->flags & PXT_PF_KERNEL)
			continue;
		thread = pop(memory);
		if (!thread)
			break;
		fill(thread, task, tgid);
		thread = insert(roster, thread, task);
		if (thread)
			pxt_roster_thread_free(thread);
	}
	rcu_read_unlock();
}

/**
 * pxt_roster_enter() - add a process that the stream traces from now on
 * @roster: of the stream; may be NULL
 * @target: the process; the lock of its table is held
 *
 * Without memory, names will be missing in the log. Context: may sleep.
 */
void pxt_roster_enter(struct pxt_roster *roster, struct pxt_target *target)
{
	HLIST_HEAD(memory);
	struct pxt_roster_thread *thread;
	struct task_struct *process;

	if (!roster)
		return;
	process = get_pid_task(target->pid, PIDTYPE_TGID);
	if (!process)
		return;
	allocate(&memory, get_nr_threads(process));
	enter_all(roster, process, target->pid, &memory);
	put_task_struct(process);
	while ((thread = pop(&memory)))
		kfree(thread);
	set_text(roster, target, PXT_TEXT_PROGRAM, true);
	set_text(roster, target, PXT_TEXT_MAPPINGS, true);
	free_surplus(roster);
}

/* The main thread of a process may have ended before. */
static void enter_current(struct pxt_roster *roster, struct pid *tgid)
{
	struct pxt_roster_thread *thread = thread_new(GFP_KERNEL_ACCOUNT);

	if (!thread)
		return;
	fill(thread, current, tgid);
	thread = insert(roster, thread, current);
	if (thread)
		pxt_roster_thread_free(thread);
	free_surplus(roster);
}

/**
 * pxt_roster_born() - add the calling thread, which has not run yet
 * @roster: of a stream that traces its process; may be NULL
 * @target: its process; the lock of its table is held
 *
 * Context: may sleep.
 */
void pxt_roster_born(struct pxt_roster *roster, struct pxt_target *target)
{
	if (roster)
		enter_current(roster, target->pid);
}

/* Takes a thread that had its struct pid before out. */
static void replace_current(struct pxt_roster *roster, struct pid *tgid)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, task_pid(current));
	if (thread && thread->has_ended) {
		/* The struct pid is that of the main thread, which ended for this one. */
		hlist_del_init(&thread->node);
		thread = NULL;
	}
	if (thread) {
		thread->mm = current->mm;
		set_name(roster, thread, current->comm);
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	if (!thread)
		enter_current(roster, tgid);
}

/* Moves texts that were not written yet, and returns whether there were any. */
static bool move_texts(struct pxt_roster_thread *from, struct pxt_roster_thread *to)
{
	bool any = false;
	u32 i;

	for (i = 0; i < PXT_TEXTS; i++) {
		if (!from->text_unwritten[i])
			continue;
		to->text[i] = from->text[i];
		to->text_since[i] = from->text_since[i];
		to->text_unwritten[i] = true;
		from->text[i] = NULL;
		from->text_unwritten[i] = false;
		any = true;
	}
	return any;
}

/*
 * The calling process has become another program: what there is to say about the old one stays, as
 * that of a thread that has ended, which has no names to be written.
 */
static void keep_texts(struct pxt_roster *roster, struct pid *tgid)
{
	struct pxt_roster_thread *kept = thread_new(GFP_KERNEL_ACCOUNT), *thread;
	unsigned long flags;

	if (!kept)
		return;
	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, tgid);
	if (thread && !thread->has_ended && move_texts(thread, kept)) {
		kept->pid = get_pid(thread->pid);
		kept->tgid = get_pid(thread->tgid);
		kept->start = thread->start;
		kept->name[0] = thread->name[0];
		kept->round = roster->round;
		set_ended(roster, kept);
		kept = NULL;
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	if (kept)
		pxt_roster_thread_free(kept);
	free_surplus(roster);
}

/* Notes that all threads of a process have ended, but for one. */
static void end_threads(struct pxt_roster *roster, const struct pid *tgid, const struct pid *except)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(roster->threads); i++) {
		raw_spin_lock_irqsave(&roster->lock, flags);
		hlist_for_each_entry(thread, &roster->threads[i], node) {
			if (thread->tgid == tgid && thread->pid != except)
				set_ended(roster, thread);
		}
		raw_spin_unlock_irqrestore(&roster->lock, flags);
	}
}

/**
 * pxt_roster_executed() - note the program of the calling process
 * @roster: of a stream that may trace it; may be NULL
 * @target: the process; the lock of its table is held
 *
 * It executed the program, or attached for the first time. Context: may sleep.
 */
void pxt_roster_executed(struct pxt_roster *roster, struct pxt_target *target)
{
	if (!roster)
		return;
	/* A thread that executes a program takes the number of the main thread, which has ended. */
	if (thread_group_empty(current))
		end_threads(roster, target->pid, task_pid(current));
	replace_current(roster, target->pid);
	keep_texts(roster, target->pid);
	set_text(roster, target, PXT_TEXT_PROGRAM, false);
}

/**
 * pxt_roster_mapped() - note the mappings of the calling process
 * @roster: of a stream that traces it; may be NULL
 * @target: the process; the lock of its table is held
 *
 * Context: may sleep.
 */
void pxt_roster_mapped(struct pxt_roster *roster, struct pxt_target *target)
{
	if (roster)
		set_text(roster, target, PXT_TEXT_MAPPINGS, false);
}

/**
 * pxt_roster_leave() - note that the stream does not trace a process any more
 * @roster: of the stream; may be NULL
 * @target: the process has ended, or executed a program; the lock of its table is held
 *
 * Context: may sleep.
 */
void pxt_roster_leave(struct pxt_roster *roster, const struct pxt_target *target)
{
	if (roster)
		end_threads(roster, target->pid, NULL);
}

/* ------------------------------------------------------------------ */
/* In tracepoints: must not sleep					*/

/**
 * pxt_roster_renamed() - note the new name of a thread
 * @roster: of a stream that traces its process; may be NULL
 * @task: the thread
 * @comm: its new name
 *
 * Not if it executes a program: whether the stream may trace that is not known yet, and
 * pxt_roster_executed() follows. Context: under RCU; must not sleep.
 */
void pxt_roster_renamed(struct pxt_roster *roster, struct task_struct *task, const char *comm)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;

	if (!roster)
		return;
	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, task_pid(task));
	if (thread && !thread->has_ended && pxt_thread_uses(task, thread->mm))
		set_name(roster, thread, comm);
	raw_spin_unlock_irqrestore(&roster->lock, flags);
}

/**
 * pxt_roster_ends() - note that a thread ends
 * @roster: of a stream that traces its process; may be NULL
 * @task: the thread; PF_EXITING is set
 *
 * Context: under RCU; must not sleep.
 */
void pxt_roster_ends(struct pxt_roster *roster, struct task_struct *task)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;

	if (!roster)
		return;
	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, task_pid(task));
	if (thread)
		set_ended(roster, thread);
	raw_spin_unlock_irqrestore(&roster->lock, flags);
}
