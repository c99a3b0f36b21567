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
#include "target/memory.h"
#include "target/roster.h"
#include "target/rosterthread.h"
#include "target/target.h"
#include "target/walk.h"

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

/**
 * pxt_roster_prepare() - memory for threads that enter rosters
 * @memory: list, to be ended with pxt_roster_unprepare()
 * @count: threads there from now on
 *
 * The caller holds no lock: a memory cgroup may let it wait. If there is no memory, @memory has
 * less, and names will be missing in a log. Context: may sleep.
 */
void pxt_roster_prepare(struct hlist_head *memory, u32 count)
{
	struct pxt_roster_thread *thread;
	struct hlist_node *node;

	hlist_for_each(node, memory)
		count -= !!count;
	for (; count; count--) {
		thread = kzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!thread)
			return;
		INIT_LIST_HEAD(&thread->list);
		hlist_add_head(&thread->node, memory);
		cond_resched();
	}
}

/* Takes memory for a thread; NULL if there is none left. */
static struct pxt_roster_thread *pop(struct hlist_head *memory)
{
	struct pxt_roster_thread *thread = hlist_entry_safe(memory->first,
							    struct pxt_roster_thread, node);

	if (thread)
		hlist_del_init(&thread->node);
	return thread;
}

/**
 * pxt_roster_unprepare() - free the memory that was not used
 * @memory: from pxt_roster_prepare()
 *
 * Context: may sleep.
 */
void pxt_roster_unprepare(struct hlist_head *memory)
{
	struct pxt_roster_thread *thread;

	while ((thread = pop(memory))) {
		kfree(thread);
		cond_resched();
	}
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
		/* The first one stands for all that are not written: the name then is not known. */
		memset(name->comm, 0, sizeof(name->comm));
		memmove(name + 1, name + 2, sizeof(thread->name) - 2 * sizeof(*name));
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

/* Fills in all but the texts. @born: the thread has had no other name since it was born. */
static void fill(struct pxt_roster_thread *thread, struct task_struct *task,
		 const struct pxt_target *target, bool born)
{
	thread->pid = get_task_pid(task, PIDTYPE_PID);
	thread->tgid = get_pid(target->pid);
	thread->looks = target->looks;
	thread->mm = READ_ONCE(task->mm);
	thread->start = ktime_to_ns(ktime_mono_to_real(ns_to_ktime(task->start_time)));
	thread->name[0].since = born ? thread->start : pxt_clock_now();
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

/* Does a text say more than the one that the log has, if it has one? */
static bool is_new(const struct pxt_text *text, const struct pxt_text *old)
{
	return !old || (old != text && (!text->hash || old->hash != text->hash));
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
	if (thread && is_new(text, thread->text[kind])) {
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

/* One thread; unneeded memory stays in the list. Returns false without memory. */
static bool enter_one(struct pxt_roster *roster, struct task_struct *task,
		      const struct pxt_target *target, struct hlist_head *memory)
{
	struct pxt_roster_thread *thread = pop(memory);

	if (!thread)
		return false;
	fill(thread, task, target, true);
	thread = insert(roster, thread, task);
	if (thread) {
		put_pid(thread->pid);
		put_pid(thread->tgid);
		hlist_add_head(&thread->node, memory);
	}
	return true;
}

/* Returns false if the walk was cut short. */
static bool enter_all(struct pxt_roster *roster, struct task_struct *process,
		      const struct pxt_target *target, struct hlist_head *memory)
{
	struct pxt_walk walk = { 0 };
	struct task_struct *task;
	bool whole = true;

	rcu_read_lock();
	for_each_thread(process, task) {
		if (!(task->flags & PXT_PF_KERNEL) && !enter_one(roster, task, target, memory))
			break;
		whole = pxt_walk_step(&walk, process, task);
		if (!whole)
			break;
	}
	rcu_read_unlock();
	return whole;
}

/**
 * pxt_roster_enter() - add a process that the stream traces from now on
 * @roster: of the stream; may be NULL
 * @target: the process; the lock of its table is held
 * @memory: from pxt_roster_prepare(), for all threads
 *
 * The log has the texts of the target, unless they are from before the stream: then it gets them
 * when the process has looked again. Without memory, or if threads end all the time, names will be
 * missing in the log. Context: may sleep.
 */
void pxt_roster_enter(struct pxt_roster *roster, struct pxt_target *target,
		      struct hlist_head *memory)
{
	struct task_struct *process;
	u32 kind, tries = 0;

	if (!roster)
		return;
	process = get_pid_task(target->pid, PIDTYPE_TGID);
	if (!process)
		return;
	/* Threads that are born from now on enter by themselves. */
	while (!enter_all(roster, process, target, memory) && pxt_walk_retry(tries++))
		;
	put_task_struct(process);
	for (kind = 0; kind < PXT_TEXTS && target->looked == target->looks; kind++)
		set_text(roster, target, kind, true);
	free_surplus(roster);
}

/* The main thread of a process may have ended before. */
static void enter_current(struct pxt_roster *roster, const struct pxt_target *target,
			  struct hlist_head *memory, bool born)
{
	struct pxt_roster_thread *thread = pop(memory);

	if (!thread)
		return;
	fill(thread, current, target, born);
	thread = insert(roster, thread, current);
	if (thread)
		pxt_roster_thread_free(thread);
	free_surplus(roster);
}

static bool knows(struct pxt_roster *roster, const struct pid *pid)
{
	unsigned long flags;
	bool found;

	raw_spin_lock_irqsave(&roster->lock, flags);
	found = find(roster, pid);
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	return found;
}

/**
 * pxt_roster_born() - add the calling thread, which has not run yet
 * @roster: of a stream that traces its process; may be NULL
 * @target: its process; the lock of its table is held
 * @memory: from pxt_roster_prepare(), for one thread
 *
 * Context: may sleep.
 */
void pxt_roster_born(struct pxt_roster *roster, struct pxt_target *target,
		     struct hlist_head *memory)
{
	/* A stream that was put on the process just now has found the thread. */
	if (roster && !knows(roster, task_pid(current)))
		enter_current(roster, target, memory, true);
}

/* Takes a thread that had its struct pid before out. */
static void replace_current(struct pxt_roster *roster, const struct pxt_target *target,
			    struct hlist_head *memory)
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
		enter_current(roster, target, memory, false);
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
 * The calling process has become another program, or changed its command line: what there is to say
 * about the old one stays, with a thread that has ended, which has no names to be written.
 */
static void keep_texts(struct pxt_roster *roster, struct pid *tgid, struct hlist_head *memory)
{
	struct pxt_roster_thread *kept = pop(memory), *thread;
	unsigned long flags;

	if (!kept)
		return;
	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, tgid);
	if (thread && !thread->has_ended && move_texts(thread, kept)) {
		kept->pid = get_pid(thread->pid);
		kept->tgid = get_pid(thread->tgid);
		kept->start = thread->start;
		kept->looks = thread->looks;
		kept->name[0] = thread->name[0];
		kept->round = roster->round;
		set_ended(roster, kept);
		kept = NULL;
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	if (kept)
		hlist_add_head(&kept->node, memory);
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
 * pxt_roster_executed() - note the program that the calling process has executed
 * @roster: of a stream that may trace it; may be NULL
 * @target: the process; the lock of its table is held
 * @memory: from pxt_roster_prepare(), for PXT_ROSTER_EXECUTED threads
 *
 * Context: may sleep.
 */
void pxt_roster_executed(struct pxt_roster *roster, struct pxt_target *target,
			 struct hlist_head *memory)
{
	if (!roster)
		return;
	/* A thread that executes a program takes the number of the main thread, which has ended. */
	if (thread_group_empty(current))
		end_threads(roster, target->pid, task_pid(current));
	replace_current(roster, target, memory);
	keep_texts(roster, target->pid, memory);
	set_text(roster, target, PXT_TEXT_PROGRAM, false);
}

/* Would a text that the log does not have yet be replaced? */
static bool loses_text(struct pxt_roster *roster, const struct pxt_target *target)
{
	const struct pxt_roster_thread *thread;
	unsigned long flags;
	bool loses = false;
	u32 kind;

	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, target->pid);
	for (kind = 0; thread && kind < PXT_TEXTS; kind++)
		loses |= target->text[kind] && thread->text_unwritten[kind] &&
			 is_new(target->text[kind], thread->text[kind]);
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	return loses;
}

/**
 * pxt_roster_looked() - note the texts of the calling process
 * @roster: of a stream that traces it; may be NULL
 * @target: the process; the lock of its table is held
 * @memory: from pxt_roster_prepare(), for one thread
 *
 * Context: may sleep.
 */
void pxt_roster_looked(struct pxt_roster *roster, struct pxt_target *target,
		       struct hlist_head *memory)
{
	u32 kind;

	if (!roster)
		return;
	if (loses_text(roster, target))
		keep_texts(roster, target->pid, memory);
	for (kind = 0; kind < PXT_TEXTS; kind++)
		set_text(roster, target, kind, false);
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
