// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks of a log: names of the threads and processes traced by its stream. Events contain only
 * numbers, and the threads may be long gone when a reader opens the log.
 *
 * A thread keeps its last names until they are written. After its end it stays until it is in the
 * log. Only some thousands of ended threads are kept, and the oldest are dropped first.
 */
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "ring/clock.h"
#include "target/logtasks.h"
#include "target/memory.h"
#include "target/target.h"
#include "target/walk.h"

/* Maximum total cost of pxt_logtasks.ended: see cost_of(). With texts, this is about a megabyte. */
#define ENDED_COST_MAX	4096

/**
 * pxt_logtasks_new() - create the list of tasks of a new log
 *
 * Context: may sleep.
 * Return: the list, or NULL if out of memory.
 */
struct pxt_logtasks *pxt_logtasks_new(void)
{
	struct pxt_logtasks *tasks = kzalloc(sizeof(*tasks), GFP_KERNEL_ACCOUNT);

	if (!tasks)
		return NULL;
	raw_spin_lock_init(&tasks->lock);
	INIT_LIST_HEAD(&tasks->live);
	INIT_LIST_HEAD(&tasks->ended);
	INIT_LIST_HEAD(&tasks->later);
	INIT_LIST_HEAD(&tasks->kept);
	return tasks;
}

/**
 * pxt_logtask_free() - free a thread
 * @thread: not in a list
 *
 * Context: may sleep.
 */
void pxt_logtask_free(struct pxt_logtask *thread)
{
	u32 i;

	for (i = 0; i < PXT_TEXTS; i++)
		pxt_text_put(thread->text[i]);
	put_pid(thread->pid);
	put_pid(thread->tgid);
	kfree(thread);
}

/**
 * pxt_logtasks_prepare() - allocate memory for threads that enter logs
 * @memory: list, to be freed with pxt_logtasks_unprepare()
 * @count: number of threads to provide
 *
 * The caller must hold no lock, because a memory cgroup may make it wait. If out of memory, @memory
 * has fewer entries, and names will be missing in a log. Context: may sleep.
 */
void pxt_logtasks_prepare(struct hlist_head *memory, u32 count)
{
	struct pxt_logtask *thread;
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

/* Take memory for a thread, or return NULL. */
static struct pxt_logtask *pop(struct hlist_head *memory)
{
	struct pxt_logtask *thread = hlist_entry_safe(memory->first,
							    struct pxt_logtask, node);

	if (thread)
		hlist_del_init(&thread->node);
	return thread;
}

/**
 * pxt_logtasks_unprepare() - free unused memory
 * @memory: from pxt_logtasks_prepare()
 *
 * Context: may sleep.
 */
void pxt_logtasks_unprepare(struct hlist_head *memory)
{
	struct pxt_logtask *thread;

	while ((thread = pop(memory))) {
		kfree(thread);
		cond_resched();
	}
}

static struct hlist_head *bucket_of(struct pxt_logtasks *tasks, const struct pid *pid)
{
	return &tasks->threads[hash_ptr(pid, PXT_LOGTASKS_BITS)];
}

static struct pxt_logtask *find(struct pxt_logtasks *tasks, const struct pid *pid)
{
	struct pxt_logtask *thread;

	lockdep_assert_held(&tasks->lock);
	hlist_for_each_entry(thread, bucket_of(tasks, pid), node) {
		if (thread->pid == pid)
			return thread;
	}
	return NULL;
}

/* A thread costs 1. A text costs as much as the threads that would fit into its memory. */
static u32 cost_of(const struct pxt_logtask *thread)
{
	u32 cost = 1, i;

	for (i = 0; i < PXT_TEXTS; i++)
		cost += thread->text[i] ? thread->text[i]->size / 256 : 0;
	return cost;
}

/**
 * pxt_logtasks_remove() - remove a thread, to be freed without the lock
 * @tasks: locked
 * @thread: in @tasks
 */
void pxt_logtasks_remove(struct pxt_logtasks *tasks, struct pxt_logtask *thread)
{
	lockdep_assert_held(&tasks->lock);
	if (thread->has_ended)
		tasks->ended_cost -= cost_of(thread);
	list_del_init(&thread->list);
	hlist_del_init(&thread->node);
}

/**
 * pxt_logtasks_note_news() - note that a thread has data to be written
 * @tasks: locked
 * @thread: in @tasks
 */
void pxt_logtasks_note_news(struct pxt_logtasks *tasks, struct pxt_logtask *thread)
{
	thread->changes++;
	if (!thread->has_ended && list_empty(&thread->list))
		list_add_tail(&thread->list, &tasks->live);
}

/* @comm: TASK_COMM_LEN bytes, with a NUL. @since: when the thread got it, ns since the Epoch. */
static void set_name(struct pxt_logtasks *tasks, struct pxt_logtask *thread, const char *comm,
		     u64 since)
{
	struct pxt_logtask_name *name = thread->name;

	lockdep_assert_held(&tasks->lock);
	if (!strncmp(pxt_logtask_last_name(thread)->comm, comm, TASK_COMM_LEN))
		return;
	if (thread->unwritten == PXT_LOGTASK_NAMES) {
		/*
		 * The first entry stands for the oldest names, which are forgotten. It keeps only
		 * the time at which the oldest of them began.
		 */
		memset(name->comm, 0, sizeof(name->comm));
		memmove(name + 1, name + 2, sizeof(thread->name) - 2 * sizeof(*name));
		thread->unwritten--;
	}
	name += thread->unwritten++;
	strscpy_pad(name->comm, comm, sizeof(name->comm));
	name->since = since;
	pxt_logtasks_note_news(tasks, thread);
}

static void set_ended(struct pxt_logtasks *tasks, struct pxt_logtask *thread)
{
	lockdep_assert_held(&tasks->lock);
	if (thread->has_ended)
		return;
	thread->has_ended = true;
	tasks->ended_cost += cost_of(thread);
	list_move_tail(&thread->list, thread->round == tasks->round ? &tasks->later :
								     &tasks->ended);
}

/* Remove and return the oldest thread of a list of ended threads. */
static struct pxt_logtask *take_oldest(struct pxt_logtasks *tasks, struct list_head *list)
{
	struct pxt_logtask *thread;

	list_for_each_entry(thread, list, list) {
		/* At most PXT_LOGTASKS_BATCH threads are busy, so this skips only a few. */
		if (thread->busy)
			continue;
		pxt_logtasks_remove(tasks, thread);
		return thread;
	}
	return NULL;
}

/* If there are too many ended threads, remove and return one: if possible, one that is written. */
static struct pxt_logtask *take_surplus(struct pxt_logtasks *tasks)
{
	if (tasks->ended_cost <= ENDED_COST_MAX)
		return NULL;
	return take_oldest(tasks, &tasks->kept) ?: take_oldest(tasks, &tasks->ended) ?:
	       take_oldest(tasks, &tasks->later);
}

static void free_surplus(struct pxt_logtasks *tasks)
{
	struct pxt_logtask *thread;
	unsigned long flags;

	do {
		raw_spin_lock_irqsave(&tasks->lock, flags);
		thread = take_surplus(tasks);
		raw_spin_unlock_irqrestore(&tasks->lock, flags);
		if (thread)
			pxt_logtask_free(thread);
	} while (thread);
}

/* Remove and return the first thread of a bucket or of a list. */
static struct pxt_logtask *take_first(struct pxt_logtasks *tasks, struct hlist_head *bucket,
				      struct list_head *list)
{
	struct pxt_logtask *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	if (bucket)
		thread = hlist_entry_safe(bucket->first, struct pxt_logtask, node);
	else
		thread = list_first_entry_or_null(list, struct pxt_logtask, list);
	if (thread)
		pxt_logtasks_remove(tasks, thread);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	return thread;
}

/**
 * pxt_logtasks_free() - free the list of tasks of a log
 * @tasks: no more threads enter it; may be NULL
 *
 * Tracepoints may still look for threads, without finding any. Context: may sleep.
 */
void pxt_logtasks_free(struct pxt_logtasks *tasks)
{
	struct pxt_logtask *thread;
	u32 i;

	if (!tasks)
		return;
	for (i = 0; i < ARRAY_SIZE(tasks->threads); i++) {
		while ((thread = take_first(tasks, &tasks->threads[i], NULL)))
			pxt_logtask_free(thread);
		cond_resched();
	}
	/* Some threads are only in this list, see replace_current() and keep_texts(). */
	while ((thread = take_first(tasks, NULL, &tasks->ended)) ||
	       (thread = take_first(tasks, NULL, &tasks->later)) ||
	       (thread = take_first(tasks, NULL, &tasks->kept)))
		pxt_logtask_free(thread);
	kfree_rcu(tasks, rcu);
}

/* ------------------------------------------------------------------ */
/* Threads enter							*/

/* Fill in everything but the texts. @born: date its name back to the creation of the thread. */
static void fill(struct pxt_logtask *thread, struct task_struct *task,
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

/* Add @thread, filled in from @task. Returns the thread if the caller must free it, or NULL. */
static struct pxt_logtask *insert(struct pxt_logtasks *tasks,
				  struct pxt_logtask *thread,
					const struct task_struct *task)
{
	struct pxt_logtask *surplus = thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	/* A thread without a pid has ended and was reaped. */
	if (thread->pid && !find(tasks, thread->pid)) {
		thread->round = tasks->round;
		hlist_add_head(&thread->node, bucket_of(tasks, thread->pid));
		list_add_tail(&thread->list, &tasks->live);
		/*
		 * pxt_logtasks_ends() may have been called too early to find this entry. The kernel
		 * sets the flag before that tracepoint.
		 */
		if (READ_ONCE(task->flags) & PF_EXITING)
			set_ended(tasks, thread);
		surplus = NULL;
	}
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	return surplus;
}

/* Does a text differ from what the log already has? */
static bool is_new(const struct pxt_text *text, const struct pxt_text *old)
{
	return !old || (old != text && (!text->hash || old->hash != text->hash));
}

/*
 * Note a text of a target. Called with the lock of its table. No effect if the main thread is no
 * longer in @tasks.
 */
static void set_text(struct pxt_logtasks *tasks, const struct pxt_target *target,
		     enum pxt_text_kind kind, bool born)
{
	struct pxt_text *text = target->text[kind];
	struct pxt_logtask *thread;
	unsigned long flags;

	lockdep_assert_held(&target->table->lock);
	if (!text)
		return;
	pxt_text_get(text);
	raw_spin_lock_irqsave(&tasks->lock, flags);
	thread = find(tasks, target->pid);
	if (thread && is_new(text, thread->text[kind])) {
		if (thread->has_ended)
			tasks->ended_cost -= cost_of(thread);
		swap(thread->text[kind], text);
		if (thread->has_ended)
			tasks->ended_cost += cost_of(thread);
		thread->text_since[kind] = born ? thread->start : pxt_clock_now();
		thread->text_unwritten[kind] = true;
		pxt_logtasks_note_news(tasks, thread);
	}
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	pxt_text_put(text);
}

/* Enter one thread; unneeded memory stays in the list. Returns false if out of memory. */
static bool enter_one(struct pxt_logtasks *tasks, struct task_struct *task,
		      const struct pxt_target *target, struct hlist_head *memory)
{
	struct pxt_logtask *thread = pop(memory);

	if (!thread)
		return false;
	fill(thread, task, target, true);
	thread = insert(tasks, thread, task);
	if (thread) {
		put_pid(thread->pid);
		put_pid(thread->tgid);
		hlist_add_head(&thread->node, memory);
	}
	return true;
}

/* Returns false if the walk is incomplete. */
static bool enter_all(struct pxt_logtasks *tasks, struct task_struct *process,
		      const struct pxt_target *target, struct hlist_head *memory)
{
	struct pxt_walk walk = { 0 };
	struct task_struct *task;
	bool whole = true;

	rcu_read_lock();
	for_each_thread(process, task) {
		if (!(task->flags & PXT_PF_KERNEL) && !enter_one(tasks, task, target, memory))
			break;
		whole = pxt_walk_step(&walk, process, task);
		if (!whole)
			break;
	}
	rcu_read_unlock();
	return whole;
}

/**
 * pxt_logtasks_enter() - add a process that the stream now traces
 * @tasks: tasks of the stream; may be NULL
 * @target: the process; the lock of its table is held
 * @memory: from pxt_logtasks_prepare(), for all threads
 *
 * The log also gets the texts of the target, unless they predate the stream: then it gets them from
 * the next pxt_target_look() of the process. If out of memory, or if threads exit all the time,
 * names will be missing in the log. Context: may sleep.
 */
void pxt_logtasks_enter(struct pxt_logtasks *tasks, struct pxt_target *target,
			struct hlist_head *memory)
{
	struct task_struct *process;
	u32 kind, tries = 0;

	if (!tasks)
		return;
	process = get_pid_task(target->pid, PIDTYPE_TGID);
	if (!process)
		return;
	/* Threads that are created from now on call pxt_logtasks_born(). */
	while (!enter_all(tasks, process, target, memory) && pxt_walk_retry(tries++))
		;
	put_task_struct(process);
	for (kind = 0; kind < PXT_TEXTS && target->looked == target->looks; kind++)
		set_text(tasks, target, kind, true);
	free_surplus(tasks);
}

/* Add the calling thread. The main thread of its process may have ended earlier. */
static void enter_current(struct pxt_logtasks *tasks, const struct pxt_target *target,
			  struct hlist_head *memory, bool born)
{
	struct pxt_logtask *thread = pop(memory);

	if (!thread)
		return;
	fill(thread, current, target, born);
	thread = insert(tasks, thread, current);
	if (thread)
		pxt_logtask_free(thread);
	free_surplus(tasks);
}

static bool knows(struct pxt_logtasks *tasks, const struct pid *pid)
{
	unsigned long flags;
	bool found;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	found = find(tasks, pid);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	return found;
}

/**
 * pxt_logtasks_born() - add the calling thread, which has not run yet
 * @tasks: tasks of a stream that traces its process; may be NULL
 * @target: its process; the lock of its table is held
 * @memory: from pxt_logtasks_prepare(), for one thread
 *
 * Context: may sleep.
 */
void pxt_logtasks_born(struct pxt_logtasks *tasks, struct pxt_target *target,
		       struct hlist_head *memory)
{
	/* A stream that has just started to trace the process may already have added the thread. */
	if (tasks && !knows(tasks, task_pid(current)))
		enter_current(tasks, target, memory, true);
}

/* Note the calling thread after an exec, and remove a thread that had its struct pid before. */
static void replace_current(struct pxt_logtasks *tasks, const struct pxt_target *target,
			    struct hlist_head *memory)
{
	struct pxt_logtask *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	thread = find(tasks, task_pid(current));
	if (thread && thread->has_ended) {
		/*
		 * The struct pid belonged to the main thread, which ended when this one took over.
		 */
		hlist_del_init(&thread->node);
		thread = NULL;
	}
	if (thread) {
		thread->mm = current->mm;
		/*
		 * The kernel renames a thread long before the permissions of the program are
		 * checked. If pxt_logtasks_renamed() has noted that time, the name is valid from
		 * then on.
		 */
		set_name(tasks, thread, current->comm, thread->executes ?: pxt_clock_now());
		thread->executes = 0;
	}
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	if (!thread)
		enter_current(tasks, target, memory, false);
}

/* Move the unwritten texts of a thread to another one. Returns true if there were any. */
static bool move_texts(struct pxt_logtask *from, struct pxt_logtask *to)
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
 * The texts of the calling process are about to be replaced. Keep those that are not in the log
 * yet, in another entry: like an entry of an ended thread, but without names to be written.
 */
static void keep_texts(struct pxt_logtasks *tasks, struct pid *tgid, struct hlist_head *memory)
{
	struct pxt_logtask *kept = pop(memory), *thread;
	unsigned long flags;

	if (!kept)
		return;
	raw_spin_lock_irqsave(&tasks->lock, flags);
	thread = find(tasks, tgid);
	if (thread && !thread->has_ended && move_texts(thread, kept)) {
		kept->pid = get_pid(thread->pid);
		kept->tgid = get_pid(thread->tgid);
		kept->start = thread->start;
		kept->looks = thread->looks;
		kept->name[0] = thread->name[0];
		kept->round = tasks->round;
		set_ended(tasks, kept);
		kept = NULL;
	}
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	if (kept)
		hlist_add_head(&kept->node, memory);
	free_surplus(tasks);
}

/* Note that all threads of a process but one have ended. */
static void end_threads(struct pxt_logtasks *tasks, const struct pid *tgid,
			const struct pid *except)
{
	struct pxt_logtask *thread;
	unsigned long flags;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(tasks->threads); i++) {
		raw_spin_lock_irqsave(&tasks->lock, flags);
		hlist_for_each_entry(thread, &tasks->threads[i], node) {
			if (thread->tgid == tgid && thread->pid != except)
				set_ended(tasks, thread);
		}
		raw_spin_unlock_irqrestore(&tasks->lock, flags);
	}
}

/**
 * pxt_logtasks_executed() - note the new program of the calling process
 * @tasks: tasks of a stream that may trace it; may be NULL
 * @target: the process; the lock of its table is held
 * @memory: from pxt_logtasks_prepare(), for PXT_LOGTASKS_EXECUTED threads
 *
 * Context: may sleep.
 */
void pxt_logtasks_executed(struct pxt_logtasks *tasks, struct pxt_target *target,
			   struct hlist_head *memory)
{
	if (!tasks)
		return;
	/*
	 * A thread that executes a program takes over the id of the main thread, which has ended.
	 */
	if (thread_group_empty(current))
		end_threads(tasks, target->pid, task_pid(current));
	replace_current(tasks, target, memory);
	keep_texts(tasks, target->pid, memory);
	set_text(tasks, target, PXT_TEXT_PROGRAM, false);
}

/* Does the process have a text that is not in the log yet, and would be replaced? */
static bool loses_text(struct pxt_logtasks *tasks, const struct pxt_target *target)
{
	const struct pxt_logtask *thread;
	unsigned long flags;
	bool loses = false;
	u32 kind;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	thread = find(tasks, target->pid);
	for (kind = 0; thread && kind < PXT_TEXTS; kind++)
		loses |= target->text[kind] && thread->text_unwritten[kind] &&
			 is_new(target->text[kind], thread->text[kind]);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	return loses;
}

/**
 * pxt_logtasks_looked() - note the texts of the calling process
 * @tasks: tasks of a stream that traces it; may be NULL
 * @target: the process; the lock of its table is held
 * @memory: from pxt_logtasks_prepare(), for one thread
 *
 * Context: may sleep.
 */
void pxt_logtasks_looked(struct pxt_logtasks *tasks, struct pxt_target *target,
			 struct hlist_head *memory)
{
	u32 kind;

	if (!tasks)
		return;
	if (loses_text(tasks, target))
		keep_texts(tasks, target->pid, memory);
	for (kind = 0; kind < PXT_TEXTS; kind++)
		set_text(tasks, target, kind, false);
}

/**
 * pxt_logtasks_leave() - note that the stream no longer traces a process
 * @tasks: tasks of the stream; may be NULL
 * @target: target of the process; the lock of its table is held
 *
 * Context: may sleep.
 */
void pxt_logtasks_leave(struct pxt_logtasks *tasks, const struct pxt_target *target)
{
	if (tasks)
		end_threads(tasks, target->pid, NULL);
}

/* ------------------------------------------------------------------ */
/* Tracepoint handlers: must not sleep					*/

/**
 * pxt_logtasks_renamed() - note the new name of a thread
 * @tasks: tasks of a stream that traces its process; may be NULL
 * @task: the thread
 * @comm: its new name
 *
 * If the thread is executing a program, only the time is noted: the permission to trace the program
 * is checked later, before pxt_logtasks_executed(). Context: under RCU; must not sleep.
 */
void pxt_logtasks_renamed(struct pxt_logtasks *tasks, struct task_struct *task, const char *comm)
{
	struct pxt_logtask *thread;
	unsigned long flags;

	if (!tasks)
		return;
	raw_spin_lock_irqsave(&tasks->lock, flags);
	thread = find(tasks, task_pid(task));
	if (thread && !thread->has_ended) {
		if (pxt_thread_uses(task, thread->mm))
			set_name(tasks, thread, comm, pxt_clock_now());
		else
			thread->executes = pxt_clock_now();
	}
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
}

/**
 * pxt_logtasks_keep_ended() - keep threads that have ended although their data is written
 * @tasks: tasks of the log that the caller serves
 * @keep: false: write them once more, and remove them
 */
void pxt_logtasks_keep_ended(struct pxt_logtasks *tasks, bool keep)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	tasks->keeps_ended = keep;
	list_splice_init(&tasks->kept, &tasks->ended);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
}

/**
 * pxt_logtasks_ends() - note that a thread exits
 * @tasks: tasks of a stream that traces its process; may be NULL
 * @task: the thread; PF_EXITING is set
 *
 * Context: under RCU; must not sleep.
 */
void pxt_logtasks_ends(struct pxt_logtasks *tasks, struct task_struct *task)
{
	struct pxt_logtask *thread;
	unsigned long flags;

	if (!tasks)
		return;
	raw_spin_lock_irqsave(&tasks->lock, flags);
	thread = find(tasks, task_pid(task));
	if (thread)
		set_ended(tasks, thread);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
}
