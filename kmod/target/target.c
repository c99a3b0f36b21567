// SPDX-License-Identifier: GPL-2.0
/*
 * Targets: processes that are or may be traced. gate.c ties streams to them, stream/record.c
 * records for them.
 *
 * A process becomes a target when it opens a name (see attachment.c), when a controller traces it,
 * or when a target forks it. It stays one until it ends, or executes another program while not
 * traced by any stream.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "target/attachment.h"
#include "target/gate.h"
#include "target/image.h"
#include "target/logtasks.h"
#include "target/mappings.h"
#include "target/program.h"
#include "target/table.h"
#include "target/target.h"
#include "target/targets.h"

/* Number of the last target. */
static atomic64_t pxt_targets_made;

static void target_free(struct pxt_target *target)
{
	u32 i;

	mutex_lock(&target->table->lock);
	pxt_image_put(target->table, target->author.image);
	list_del(&target->table_node);
	mutex_unlock(&target->table->lock);
	pxt_table_put(target->table);
	pxt_fork_pool_destroy(&target->forks);
	for (i = 0; i < PXT_TEXTS; i++)
		pxt_text_put(target->text[i]);
	vfree(target->gate);
	put_pid(target->pid);
	kfree_rcu(target, rcu);
}

/* Create a target with one reference for the process and one for the caller. */
static struct pxt_target *target_new(struct pid *pid, struct pxt_table *table, u32 nr_threads)
{
	struct pxt_target *target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);
	bool is_first = !table;

	if (!target)
		return NULL;
	if (is_first)
		table = pxt_table_new();
	else
		pxt_table_get(table);
	if (!table)
		goto free_target;
	/* A child takes over its parent's image, see pxt_image_adopt(). */
	if (is_first && pxt_image_begin(&target->author))
		goto put_table;
	kref_init(&target->kref);
	kref_get(&target->kref);
	target->author.number = atomic64_inc_return(&pxt_targets_made);
	target->author.process = target->author.number;
	target->table = table;
	target->pid = get_pid(pid);
	pxt_fork_pool_init(&target->forks);
	mutex_lock(&table->lock);
	list_add_tail(&target->table_node, &table->targets);
	mutex_unlock(&table->lock);
	if (pxt_fork_pool_reserve(&target->forks, nr_threads)) {
		target_free(target);
		return NULL;
	}
	return target;

put_table:
	pxt_table_put(table);
free_target:
	kfree(target);
	return NULL;
}

static struct pxt_target *add(struct pid *pid, struct pxt_table *table, u32 nr_threads)
{
	/* Called without the lock: other callers must not wait while this one waits for memory. */
	struct pxt_target *mine = target_new(pid, table, nr_threads), *found;

	if (!mine)
		return NULL;
	found = pxt_targets_add(mine);
	if (found != mine)
		target_free(mine);
	return found;
}

/* Does the target have no stream, attachment or name? Called with the lock of the table. */
static bool is_idle(const struct pxt_target *target)
{
	const struct pxt_attachment *att;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (pxt_link_in(target, slot))
			return false;
	}
	list_for_each_entry(att, &target->table->attachments, node) {
		if (att->target == target)
			return false;
		cond_resched();
	}
	return !target->author.image || !target->author.image->count;
}

/**
 * pxt_target_forget() - end a target if it has no stream, no attachment and no names
 * @target: a reference
 *
 * CREATE or an attaching process may be about to use the target: it then notices that the target
 * has ended, and gets a new one.
 * Context: may sleep.
 *
 * Return: true if the process can become a target with another table.
 */
bool pxt_target_forget(struct pxt_target *target)
{
	struct pxt_table *table = target->table;
	bool was_one;

	mutex_lock(&table->lock);
	was_one = is_idle(target) && pxt_target_retire_locked(target);
	mutex_unlock(&table->lock);
	if (was_one)
		pxt_target_put(target);
	return was_one;
}

static struct pxt_target *target_get(struct pid *pid, struct pxt_table *table, u32 nr_threads)
{
	struct pxt_target *found = pxt_target_find(pid);

	while (found && table && found->table != table && pxt_target_forget(found)) {
		pxt_target_put(found);
		found = pxt_target_find(pid);
	}
	if (!found)
		return add(pid, table, nr_threads);
	if (!pxt_fork_pool_reserve(&found->forks, nr_threads))
		return found;
	pxt_target_put(found);
	return NULL;
}

/**
 * pxt_target_born() - create a target with the table of another one
 * @pid: thread group of a child that has not run yet, or of a process that shares the memory of the
 *	other target
 * @table: table of the other target
 *
 * Context: may sleep.
 * Return: one reference, or NULL if out of memory.
 */
struct pxt_target *pxt_target_born(struct pid *pid, struct pxt_table *table)
{
	return add(pid, table, 1);
}

/**
 * pxt_target_make() - get or create the target of a process that has not ended
 * @task: any thread of the process
 * @table: event types of a new target; NULL: a new table
 *
 * Context: may sleep.
 * Return: one reference, possibly to an existing target with another table; -ESRCH; -ENOMEM.
 */
struct pxt_target *pxt_target_make(struct task_struct *task, struct pxt_table *table)
{
	struct pid *pid = get_task_pid(task, PIDTYPE_TGID);
	struct pxt_target *target;

	if (!pid)
		return ERR_PTR(-ESRCH);
	target = target_get(pid, table, get_nr_threads(task));
	put_pid(pid);
	if (!target)
		return ERR_PTR(-ENOMEM);
	/*
	 * Read the thread count after the target can be found. Pairs with the barrier in
	 * process_exit(): either process_exit() finds the target and ends it, or this function sees
	 * a count of 0.
	 */
	smp_mb();
	if (!atomic_read(&task->signal->live)) {
		pxt_target_retire(target);
		pxt_target_put(target);
		return ERR_PTR(-ESRCH);
	}
	return target;
}

/**
 * pxt_target_ref() - get another reference
 * @target: the caller already holds one
 */
void pxt_target_ref(struct pxt_target *target)
{
	kref_get(&target->kref);
}

/* The target can no longer be found: the process has put its reference. */
static void target_release(struct kref *kref)
{
	target_free(container_of(kref, struct pxt_target, kref));
}

/**
 * pxt_target_put() - put a reference
 * @target: no longer used by the caller
 *
 * Context: may sleep.
 */
void pxt_target_put(struct pxt_target *target)
{
	kref_put(&target->kref, target_release);
}

/**
 * pxt_target_retire_locked() - end a target
 * @target: table->lock is held
 *
 * The target leaves its streams. If the process is traced again, it becomes a new target. The
 * caller must put the reference of the process, without the lock.
 *
 * Return: false if it had already ended, without a reference to put.
 */
bool pxt_target_retire_locked(struct pxt_target *target)
{
	struct pxt_link *link;
	u32 slot;

	if (target->ended)
		return false;
	WRITE_ONCE(target->ended, true);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (link)
			pxt_gate_leave(target, link);
	}
	/*
	 * Remove it only after its streams have left: from then on, a new target of the process may
	 * set the interest bit.
	 */
	pxt_targets_remove(target);
	pxt_gate_open(target);
	return true;
}

/**
 * pxt_target_retire() - end the target of a process that has ended
 * @target: the caller holds a reference
 *
 * Context: may sleep.
 */
void pxt_target_retire(struct pxt_target *target)
{
	bool was_one;

	mutex_lock(&target->table->lock);
	was_one = pxt_target_retire_locked(target);
	mutex_unlock(&target->table->lock);
	if (was_one)
		pxt_target_put(target);
}

/**
 * pxt_target_init() - start with a number unused since boot
 *
 * Like pxt_generation_init(), for what the library caches by target number.
 */
void pxt_target_init(void)
{
	atomic64_set(&pxt_targets_made, ktime_get_boottime_ns());
}

/**
 * pxt_target_exit() - end all targets
 *
 * No process attaches or forks during this call. Context: may sleep.
 */
void pxt_target_exit(void)
{
	struct pxt_target *target;
	unsigned int at = 0;

	while ((target = pxt_targets_next(&at))) {
		pxt_target_retire(target);
		pxt_target_put(target);
	}
}

/**
 * pxt_target_executed() - note the new program of the calling process
 * @target: target of that process; its table is not locked
 *
 * Has no effect unless a stream with a log traces it. Context: may sleep.
 */
void pxt_target_executed(struct pxt_target *target)
{
	u32 logs = pxt_gate_count_logs(target), slot;
	struct pxt_text *program, *mappings = NULL;
	HLIST_HEAD(memory);
	struct pxt_link *link;

	WRITE_ONCE(target->mappings_seen, 0);
	if (!logs)
		return;
	/* Called without the lock: reading the command line may fault. */
	program = pxt_program_capture(NULL);
	pxt_logtasks_prepare(&memory, logs * PXT_LOGTASKS_EXECUTED);
	mutex_lock(&target->table->lock);
	if (pxt_gate_count_logs(target)) {
		swap(target->text[PXT_TEXT_PROGRAM], program);
		swap(target->text[PXT_TEXT_MAPPINGS], mappings);
		target->looked = target->looks;
	}
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (link)
			pxt_logtasks_executed(link->logtasks, target, &memory);
	}
	mutex_unlock(&target->table->lock);
	pxt_logtasks_unprepare(&memory);
	pxt_text_put(program);
	pxt_text_put(mappings);
}

static u64 generation_of(struct pxt_target *target)
{
	/* Pairs with the release in pxt_gate_make(). */
	const struct posixtrace_gate *gate = smp_load_acquire(&target->gate);

	return gate ? READ_ONCE(gate->generation) : 0;
}

/* What is known about the calling process before pxt_target_look() collects it again. */
struct look {
	struct pxt_text *old[PXT_TEXTS];
	u32 looks;
	bool again;
};

/* Does a log need data? If so, @look gets references. */
static bool begin_look(struct pxt_target *target, struct look *look, bool mappings)
{
	bool wanted;
	u32 kind;

	mutex_lock(&target->table->lock);
	look->looks = target->looks;
	look->again = target->looked != target->looks;
	wanted = pxt_gate_count_logs(target) &&
		 (mappings || look->again || !target->text[PXT_TEXT_PROGRAM]);
	for (kind = 0; wanted && kind < PXT_TEXTS; kind++) {
		look->old[kind] = target->text[kind];
		if (look->old[kind])
			pxt_text_get(look->old[kind]);
	}
	mutex_unlock(&target->table->lock);
	return wanted;
}

/*
 * Store the result unless another stream has started to trace the process since begin_look(): that
 * stream must not get older texts, and the process will collect its texts again.
 */
static void end_look(struct pxt_target *target, const struct look *look,
		     struct pxt_text *text[PXT_TEXTS], struct hlist_head *memory)
{
	struct pxt_link *link;
	u32 kind, slot;

	mutex_lock(&target->table->lock);
	if (target->looks != look->looks || !pxt_gate_count_logs(target))
		goto unlock;
	for (kind = 0; kind < PXT_TEXTS; kind++) {
		if (text[kind] || look->again)
			swap(target->text[kind], text[kind]);
	}
	target->looked = look->looks;
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (link)
			pxt_logtasks_looked(link->logtasks, target, memory);
	}
unlock:
	mutex_unlock(&target->table->lock);
}

/**
 * pxt_target_look() - collect the program and the mappings of the calling process
 * @target: target of that process; its table is not locked
 * @mappings: also scan the mappings: the process may have loaded a library
 *
 * Has no effect unless a stream with a log traces the process. Reads the command line once, and
 * again for each new stream, which must not get an older one. Context: may sleep.
 */
void pxt_target_look(struct pxt_target *target, bool mappings)
{
	struct pxt_text *text[PXT_TEXTS] = { };
	HLIST_HEAD(memory);
	struct look look;
	u32 kind;

	if (mappings)
		WRITE_ONCE(target->mappings_seen, generation_of(target));
	if (!begin_look(target, &look, mappings))
		return;
	/* Called without the lock: reading the texts may fault. */
	if (look.again || !look.old[PXT_TEXT_PROGRAM])
		text[PXT_TEXT_PROGRAM] = pxt_program_capture(look.old[PXT_TEXT_PROGRAM]);
	if (mappings)
		text[PXT_TEXT_MAPPINGS] = pxt_mappings_capture(look.old[PXT_TEXT_MAPPINGS],
							       look.looks, look.again);
	/* Allocate memory to keep replaced texts that the log does not have yet. */
	if (text[PXT_TEXT_PROGRAM] != look.old[PXT_TEXT_PROGRAM] ||
	    (text[PXT_TEXT_MAPPINGS] && look.old[PXT_TEXT_MAPPINGS]))
		pxt_logtasks_prepare(&memory, pxt_gate_count_logs(target));
	end_look(target, &look, text, &memory);
	pxt_logtasks_unprepare(&memory);
	for (kind = 0; kind < PXT_TEXTS; kind++) {
		pxt_text_put(look.old[kind]);
		pxt_text_put(text[kind]);
	}
}

/**
 * pxt_target_look_once() - scan the mappings if the streams have changed since the last scan
 * @target: target of the calling process; its table is not locked
 *
 * Like pxt_target_look(). Needed by processes that record with EVENT, and by those that only have
 * kernel events: others call SYNC, which scans the mappings. Context: may sleep.
 */
void pxt_target_look_once(struct pxt_target *target)
{
	if (READ_ONCE(target->mappings_seen) != generation_of(target))
		pxt_target_look(target, true);
}

/**
 * pxt_target_take_after() - copy the program of the parent to a new process
 * @target: the new process, without streams
 * @parent: its parent, with the same table
 *
 * Context: may sleep.
 */
void pxt_target_take_after(struct pxt_target *target, struct pxt_target *parent)
{
	mutex_lock(&target->table->lock);
	/* If the text of the parent is outdated, the child collects its own. */
	if (!target->text[PXT_TEXT_PROGRAM] && parent->text[PXT_TEXT_PROGRAM] &&
	    parent->looked == parent->looks) {
		pxt_text_get(parent->text[PXT_TEXT_PROGRAM]);
		target->text[PXT_TEXT_PROGRAM] = parent->text[PXT_TEXT_PROGRAM];
	}
	mutex_unlock(&target->table->lock);
}
