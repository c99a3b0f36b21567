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
#include "target/program.h"
#include "target/roster.h"
#include "target/target.h"

/* What may wait in pxt_roster.ended: see cost_of(). With texts, this is about a megabyte. */
#define ENDED_COST_MAX	4096

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
 * @name: the last names, oldest first; the first one always is there
 * @unwritten: how many of them have to be written
 * @changes: incremented with each new name or program
 * @program: the command line, for the main thread; a reference or NULL
 * @program_since: from when on, ns since the Epoch
 * @program_unwritten: it has to be written
 * @has_ended: it is in pxt_roster.ended
 * @busy: the log thread is writing it, and frees it
 * @round: pxt_roster.round when it was given back last
 *
 * Guarded by the lock of the roster once it is there; the references and @start are constant.
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
	struct pxt_program *program;
	u64 program_since;
	bool program_unwritten;
	bool has_ended;
	bool busy;
	u64 round;
};

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

/* One that is not in a roster, or not any more. May sleep. */
static void thread_free(struct pxt_roster_thread *thread)
{
	pxt_program_put(thread->program);
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

/* A command line counts for as many threads as fit into its memory. */
static u32 cost_of(const struct pxt_roster_thread *thread)
{
	return 1 + (thread->program ? thread->program->size / 256 : 0);
}

/* Takes it out of the roster, to be freed without the lock. */
static void take_out(struct pxt_roster *roster, struct pxt_roster_thread *thread)
{
	lockdep_assert_held(&roster->lock);
	if (thread->has_ended)
		roster->ended_cost -= cost_of(thread);
	list_del_init(&thread->list);
	hlist_del_init(&thread->node);
}

static void note_news(struct pxt_roster *roster, struct pxt_roster_thread *thread)
{
	thread->changes++;
	if (!thread->has_ended && list_empty(&thread->list))
		list_add_tail(&thread->list, &roster->live);
}

static struct pxt_roster_name *last_name(struct pxt_roster_thread *thread)
{
	return &thread->name[thread->unwritten ? thread->unwritten - 1 : 0];
}

/* @comm has TASK_COMM_LEN bytes, with a NUL. */
static void set_name(struct pxt_roster *roster, struct pxt_roster_thread *thread, const char *comm)
{
	struct pxt_roster_name *name = thread->name;

	lockdep_assert_held(&roster->lock);
	if (!strncmp(last_name(thread)->comm, comm, TASK_COMM_LEN))
		return;
	if (thread->unwritten == PXT_ROSTER_NAMES) {
		memmove(name, name + 1, sizeof(thread->name) - sizeof(*name));
		thread->unwritten--;
	}
	name += thread->unwritten++;
	strscpy_pad(name->comm, comm, sizeof(name->comm));
	name->since = pxt_clock_now();
	note_news(roster, thread);
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
		take_out(roster, thread);
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
			thread_free(thread);
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
		take_out(roster, thread);
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
			thread_free(thread);
		cond_resched();
	}
	/* Some are only there: see replace_current(). */
	while ((thread = take_first(roster, NULL, &roster->ended)))
		thread_free(thread);
	kfree_rcu(roster, rcu);
}

/* ------------------------------------------------------------------ */
/* Threads enter							*/

/* Fills in all but the program. */
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

/* A reference to the program of a target, which its table guards. */
static struct pxt_program *program_of(const struct pxt_target *target)
{
	lockdep_assert_held(&target->table->lock);
	if (target->program)
		pxt_program_get(target->program);
	return target->program;
}

/* Takes over the reference to @program. The main thread may be gone. */
static void set_program(struct pxt_roster *roster, const struct pid *pid,
			struct pxt_program *program, bool born)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&roster->lock, flags);
	thread = find(roster, pid);
	if (thread) {
		if (thread->has_ended)
			roster->ended_cost -= cost_of(thread);
		swap(thread->program, program);
		if (thread->has_ended)
			roster->ended_cost += cost_of(thread);
		thread->program_since = born ? thread->start : pxt_clock_now();
		thread->program_unwritten = true;
		note_news(roster, thread);
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	pxt_program_put(program);
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
			thread_free(thread);
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
	if (target->program)
		set_program(roster, target->pid, program_of(target), true);
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
		thread_free(thread);
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
	replace_current(roster, target->pid);
	if (target->program)
		set_program(roster, target->pid, program_of(target), false);
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
	struct pxt_roster_thread *thread;
	unsigned long flags;
	u32 i;

	for (i = 0; roster && i < ARRAY_SIZE(roster->threads); i++) {
		raw_spin_lock_irqsave(&roster->lock, flags);
		hlist_for_each_entry(thread, &roster->threads[i], node) {
			if (thread->tgid == target->pid)
				set_ended(roster, thread);
		}
		raw_spin_unlock_irqrestore(&roster->lock, flags);
	}
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

/* ------------------------------------------------------------------ */
/* The log thread							*/

static void take(struct pxt_roster *roster, struct list_head *list)
{
	struct pxt_roster_thread *thread;
	struct pxt_roster_taken *taken;

	list_for_each_entry(thread, list, list) {
		/* One that never stops to change its name would be taken for ever. */
		if (roster->nr_taken == PXT_ROSTER_BATCH || thread->round == roster->round)
			return;
		taken = &roster->taken[roster->nr_taken++];
		thread->busy = true;
		taken->thread = thread;
		taken->changes = thread->changes;
		taken->since = thread->program_since;
		taken->program = thread->program_unwritten ? thread->program : NULL;
		if (taken->program)
			pxt_program_get(taken->program);
	}
}

/**
 * pxt_roster_begin() - begin to write what is there now
 * @roster: of the calling log thread
 *
 * Until the next call, pxt_roster_take() takes each thread once at most.
 */
void pxt_roster_begin(struct pxt_roster *roster)
{
	roster->round++;
}

/**
 * pxt_roster_take() - take threads that have something to be written
 * @roster: of which the last ones were given back by pxt_roster_taken()
 *
 * Context: may sleep.
 * Return: false if there is nothing to be written.
 */
bool pxt_roster_take(struct pxt_roster *roster)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&roster->lock, flags);
	roster->nr_taken = 0;
	take(roster, &roster->ended);
	take(roster, &roster->live);
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	return roster->nr_taken;
}

/**
 * pxt_roster_tasks() - the names of the threads that were taken
 * @roster: after pxt_roster_take()
 * @ns: pid namespace of the controller
 * @to: room for PXT_ROSTER_TASKS_MAX
 *
 * Return: how many there are.
 */
u32 pxt_roster_tasks(struct pxt_roster *roster, struct pid_namespace *ns,
		     struct posixtrace_log_task *to)
{
	const struct pxt_roster_thread *thread;
	unsigned long flags;
	u32 count = 0, i, n;

	raw_spin_lock_irqsave(&roster->lock, flags);
	for (i = 0; i < roster->nr_taken; i++) {
		thread = roster->taken[i].thread;
		for (n = 0; n < thread->unwritten; n++, count++) {
			to[count].pid = pid_nr_ns(thread->tgid, ns);
			to[count].tid = pid_nr_ns(thread->pid, ns);
			to[count].start = thread->start;
			to[count].since = thread->name[n].since;
			memcpy(to[count].name, thread->name[n].comm, sizeof(to[count].name));
		}
	}
	raw_spin_unlock_irqrestore(&roster->lock, flags);
	return count;
}

/* Returns false if there is no room for it. */
static bool put_program(const struct pxt_roster_taken *taken, struct pid_namespace *ns, void *to,
			size_t room, u32 *size)
{
	const struct pxt_program *program = taken->program;
	struct posixtrace_log_program *head = to + *size;
	u32 step = POSIXTRACE_LOG_PROGRAM_STEP(program->size);

	if (*size + step > room)
		return false;
	memset(head, 0, step);
	head->pid = pid_nr_ns(taken->thread->tgid, ns);
	head->size = program->size;
	head->start = taken->thread->start;
	head->since = taken->since;
	memcpy(head->text, program->text, program->size);
	*size += step;
	return true;
}

/**
 * pxt_roster_programs() - the command lines of the threads that were taken
 * @roster: after pxt_roster_take()
 * @ns: pid namespace of the controller
 * @to: place for the payload of a block
 * @room: bytes there, enough for one
 * @first: index of the first thread to look at; gets that for the next call
 * @count: gets how many command lines there are
 *
 * Return: bytes of payload; 0 if there are none any more.
 */
u32 pxt_roster_programs(struct pxt_roster *roster, struct pid_namespace *ns, void *to,
			size_t room, u32 *first, u32 *count)
{
	u32 size = 0;

	for (*count = 0; *first < roster->nr_taken; ++*first) {
		const struct pxt_roster_taken *taken = &roster->taken[*first];

		if (!taken->program)
			continue;
		if (!put_program(taken, ns, to, room, &size))
			break;
		++*count;
	}
	return size;
}

/* With the lock. Returns the thread if it is out of the roster now. */
static struct pxt_roster_thread *give_back(struct pxt_roster *roster,
					   const struct pxt_roster_taken *taken, bool written)
{
	struct pxt_roster_thread *thread = taken->thread;

	thread->busy = false;
	thread->round = roster->round;
	if (!written || thread->changes != taken->changes) {
		list_move_tail(&thread->list, thread->has_ended ? &roster->ended : &roster->live);
		return NULL;
	}
	thread->name[0] = *last_name(thread);
	thread->unwritten = 0;
	thread->program_unwritten = false;
	if (!thread->has_ended) {
		list_del_init(&thread->list);
		return NULL;
	}
	take_out(roster, thread);
	return thread;
}

/**
 * pxt_roster_taken() - give threads back
 * @roster: after pxt_roster_take()
 * @written: their names are in the log
 *
 * Context: may sleep.
 */
void pxt_roster_taken(struct pxt_roster *roster, bool written)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;
	u32 i;

	for (i = 0; i < roster->nr_taken; i++) {
		raw_spin_lock_irqsave(&roster->lock, flags);
		thread = give_back(roster, &roster->taken[i], written);
		raw_spin_unlock_irqrestore(&roster->lock, flags);
		pxt_program_put(roster->taken[i].program);
		if (thread)
			thread_free(thread);
	}
	roster->nr_taken = 0;
}

/**
 * pxt_roster_again() - everything has to be written once more
 * @roster: nothing of it is in the log any more
 *
 * Context: may sleep.
 */
void pxt_roster_again(struct pxt_roster *roster)
{
	struct pxt_roster_thread *thread;
	unsigned long flags;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(roster->threads); i++) {
		raw_spin_lock_irqsave(&roster->lock, flags);
		hlist_for_each_entry(thread, &roster->threads[i], node) {
			thread->unwritten = max(thread->unwritten, 1U);
			thread->program_unwritten = thread->program;
			note_news(roster, thread);
		}
		raw_spin_unlock_irqrestore(&roster->lock, flags);
	}
}
