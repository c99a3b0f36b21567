// SPDX-License-Identifier: GPL-2.0
/*
 * Targets: processes that are traced, or may be. gate.c ties streams to them, record.c
 * records for them.
 *
 * A process becomes a target when it attaches, when a controller traces it, or when a target
 * forks it. It stays one until it ends, or executes another program while no stream traces
 * it.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "target/gate.h"
#include "target/roster.h"
#include "target/target.h"

#define TARGET_BITS	8

/* Guards the hash, which is read under RCU. Inside of table->lock. */
static DEFINE_MUTEX(pxt_targets_lock);
static struct hlist_head pxt_targets[1 << TARGET_BITS];

/* The number of the last one. */
static atomic64_t pxt_targets_made;

static struct pxt_link *link_in(struct pxt_target *target, u32 slot)
{
	return rcu_dereference_protected(target->slot[slot],
					 lockdep_is_held(&target->table->lock));
}

static void target_free(struct pxt_target *target)
{
	u32 i;

	mutex_lock(&target->table->lock);
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

/* With one reference for the process, and one for the caller. */
static struct pxt_target *target_new(struct pid *pid, struct pxt_table *table, u32 nr_threads)
{
	struct pxt_target *target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);

	if (!target)
		return NULL;
	if (table)
		pxt_table_get(table);
	else
		table = pxt_table_new();
	if (!table) {
		kfree(target);
		return NULL;
	}
	kref_init(&target->kref);
	kref_get(&target->kref);
	target->number = atomic64_inc_return(&pxt_targets_made);
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
}

static struct hlist_head *bucket_of(const struct pid *pid)
{
	return &pxt_targets[hash_ptr(pid, TARGET_BITS)];
}

/**
 * pxt_target_lookup() - the target of a process
 * @pid: of its thread group
 *
 * Context: under RCU, or with preemption or interrupts off.
 * Return: the target, which may have lost its last reference; or NULL.
 */
struct pxt_target *pxt_target_lookup(struct pid *pid)
{
	struct pxt_target *target;

	hlist_for_each_entry_rcu(target, bucket_of(pid), node, rcu_read_lock_any_held()) {
		if (target->pid == pid)
			return target;
	}
	return NULL;
}

/**
 * pxt_target_find() - the target of a process, if it is one
 * @pid: of its thread group
 *
 * Return: one reference, or NULL.
 */
struct pxt_target *pxt_target_find(struct pid *pid)
{
	struct pxt_target *target;

	rcu_read_lock();
	target = pxt_target_lookup(pid);
	if (target && !kref_get_unless_zero(&target->kref))
		target = NULL;
	rcu_read_unlock();
	return target;
}

/* A reference to the target of the process. If there is none, @target becomes it. */
static struct pxt_target *find_or_add(struct pid *pid, struct pxt_target *target)
{
	struct pxt_target *found;

	mutex_lock(&pxt_targets_lock);
	found = pxt_target_find(pid);
	if (!found) {
		hlist_add_head_rcu(&target->node, bucket_of(pid));
		found = target;
	}
	mutex_unlock(&pxt_targets_lock);
	return found;
}

static struct pxt_target *add(struct pid *pid, struct pxt_table *table, u32 nr_threads)
{
	/* Without the lock: waiting for memory must not make other callers wait. */
	struct pxt_target *mine = target_new(pid, table, nr_threads), *found;

	if (!mine)
		return NULL;
	found = find_or_add(pid, mine);
	if (found != mine)
		target_free(mine);
	return found;
}

/**
 * pxt_target_get() - the target of a process, new if need be
 * @pid: of its thread group
 * @nr_threads: how many threads it has
 *
 * Context: may sleep.
 * Return: one reference, or NULL if there is no memory.
 */
struct pxt_target *pxt_target_get(struct pid *pid, u32 nr_threads)
{
	struct pxt_target *found = pxt_target_find(pid);

	if (!found)
		return add(pid, NULL, nr_threads);
	if (!pxt_fork_pool_reserve(&found->forks, nr_threads))
		return found;
	pxt_target_put(found);
	return NULL;
}

/**
 * pxt_target_born() - make the child of a target a target
 * @pid: of its thread group; it has not run yet
 * @table: of its parent
 *
 * Context: may sleep.
 * Return: one reference, or NULL if there is no memory.
 */
struct pxt_target *pxt_target_born(struct pid *pid, struct pxt_table *table)
{
	return add(pid, table, 1);
}

/**
 * pxt_target_ref() - one more reference
 * @target: of which the caller has one
 */
void pxt_target_ref(struct pxt_target *target)
{
	kref_get(&target->kref);
}

/* The target has left the hash: the process has given its reference back. */
static void target_release(struct kref *kref)
{
	target_free(container_of(kref, struct pxt_target, kref));
}

/**
 * pxt_target_put() - give a reference back
 * @target: not used by the caller any more
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
 * It leaves its streams. If the process is traced again, it becomes a new target. The caller
 * has to put the reference of the process, without the lock.
 *
 * Return: false if it had ended already; then there is no reference to put.
 */
bool pxt_target_retire_locked(struct pxt_target *target)
{
	struct pxt_link *link;
	u32 slot;

	if (target->ended)
		return false;
	target->ended = true;
	mutex_lock(&pxt_targets_lock);
	hlist_del_rcu(&target->node);
	mutex_unlock(&pxt_targets_lock);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = link_in(target, slot);
		if (link)
			pxt_gate_leave(target, link);
	}
	pxt_gate_open(target);
	return true;
}

/**
 * pxt_target_retire() - end the target of a process that has ended
 * @target: the caller has a reference
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

static struct pxt_target *any_target(void)
{
	struct pxt_target *target = NULL;
	int i;

	mutex_lock(&pxt_targets_lock);
	for (i = 0; !target && i < ARRAY_SIZE(pxt_targets); i++)
		target = hlist_entry_safe(pxt_targets[i].first, struct pxt_target, node);
	if (target)
		kref_get(&target->kref);
	mutex_unlock(&pxt_targets_lock);
	return target;
}

/**
 * pxt_target_init() - begin with a number that no target had since the machine was started
 *
 * As pxt_gate_init(), for what the library keeps by the number of the target.
 */
void pxt_target_init(void)
{
	atomic64_set(&pxt_targets_made, ktime_get_boottime_ns());
}

/**
 * pxt_target_exit() - end all targets
 *
 * No process attaches or forks meanwhile. Context: may sleep.
 */
void pxt_target_exit(void)
{
	struct pxt_target *target;

	while ((target = any_target())) {
		pxt_target_retire(target);
		pxt_target_put(target);
	}
}

/* Tells the streams that trace a target what is new about it. Its table is locked. */
static void tell_rosters(struct pxt_target *target,
			 void (*tell)(struct pxt_roster *roster, struct pxt_target *target))
{
	struct pxt_link *link;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = link_in(target, slot);
		if (link)
			tell(link->roster, target);
	}
}

/**
 * pxt_target_executed() - note the program of the calling process
 * @target: of that process; its table is not locked
 *
 * Context: may sleep.
 */
void pxt_target_executed(struct pxt_target *target)
{
	/* Without the lock: reading it may fault. */
	struct pxt_text *program = pxt_program_capture(), *mappings = NULL;

	mutex_lock(&target->table->lock);
	swap(target->text[PXT_TEXT_PROGRAM], program);
	swap(target->text[PXT_TEXT_MAPPINGS], mappings);
	tell_rosters(target, pxt_roster_executed);
	mutex_unlock(&target->table->lock);
	pxt_text_put(program);
	pxt_text_put(mappings);
}

/* Gets a reference to the mappings that are known, or NULL. Returns whether a log wants them. */
static bool wants_mappings(struct pxt_target *target, struct pxt_text **known)
{
	struct pxt_link *link;
	bool wanted = false;
	u32 slot;

	mutex_lock(&target->table->lock);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX && !wanted; slot++) {
		link = link_in(target, slot);
		wanted = link && link->roster;
	}
	*known = wanted ? target->text[PXT_TEXT_MAPPINGS] : NULL;
	if (*known)
		pxt_text_get(*known);
	mutex_unlock(&target->table->lock);
	return wanted;
}

/**
 * pxt_target_mapped() - note the mappings of the calling process
 * @target: of that process; its table is not locked
 *
 * It may have loaded a library. Does nothing unless a stream with log traces it. Context: may
 * sleep.
 */
void pxt_target_mapped(struct pxt_target *target)
{
	struct pxt_text *known, *mappings;

	if (!wants_mappings(target, &known))
		return;
	/* Without the lock: reading them may fault. */
	mappings = pxt_mappings_capture(known);
	pxt_text_put(known);
	if (!mappings)
		return;
	mutex_lock(&target->table->lock);
	swap(target->text[PXT_TEXT_MAPPINGS], mappings);
	tell_rosters(target, pxt_roster_mapped);
	mutex_unlock(&target->table->lock);
	pxt_text_put(mappings);
}

/**
 * pxt_target_note_memory() - note the address space that the first controller may know
 * @target: of the process of @task
 * @task: any thread of a process that cannot execute a program meanwhile
 *
 * Later ones find it noted: while the process executes a program, they must not note the next one
 * before it was decided which streams stay.
 */
void pxt_target_note_memory(struct pxt_target *target, struct task_struct *task)
{
	const struct mm_struct *mm = NULL;
	struct task_struct *thread;

	rcu_read_lock();
	for_each_thread(task, thread) {
		/* As in pxt_thread_uses(). */
		mm = data_race(READ_ONCE(thread->mm));
		if (mm)
			break;
	}
	rcu_read_unlock();
	cmpxchg(&target->mm, NULL, mm);
}

/**
 * pxt_target_take_after() - give a new process the program of its parent
 * @target: the new one, without streams
 * @parent: its parent, with the same table
 *
 * Context: may sleep.
 */
void pxt_target_take_after(struct pxt_target *target, struct pxt_target *parent)
{
	mutex_lock(&target->table->lock);
	if (!target->text[PXT_TEXT_PROGRAM] && parent->text[PXT_TEXT_PROGRAM]) {
		pxt_text_get(parent->text[PXT_TEXT_PROGRAM]);
		target->text[PXT_TEXT_PROGRAM] = parent->text[PXT_TEXT_PROGRAM];
	}
	mutex_unlock(&target->table->lock);
}

/* Kernel threads borrow an address space now and then. */
static bool uses_memory(struct task_struct *process, const struct mm_struct *mm)
{
	struct task_struct *thread;

	if (process->flags & PF_KTHREAD)
		return false;
	for_each_thread(process, thread) {
		if (pxt_thread_uses(thread, mm))
			return true;
	}
	return false;
}

/**
 * pxt_target_shares_memory() - does another process use the address space of the caller?
 *
 * It does after vfork() or clone(CLONE_VM).
 *
 * Return: yes or no.
 */
bool pxt_target_shares_memory(void)
{
	struct task_struct *process;
	bool found = false;

	/*
	 * More users need not be processes: look for them. The number of threads does not tell, it
	 * includes those that have left the address space, as a main thread may have long ago.
	 */
	if (atomic_read(&current->mm->mm_users) == 1)
		return false;
	rcu_read_lock();
	for_each_process(process) {
		if (!same_thread_group(process, current) && uses_memory(process, current->mm)) {
			found = true;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/* The attachment of this address space. If there is none, @att becomes it. */
static struct pxt_attachment *share_attachment(struct pxt_attachment *att)
{
	struct pxt_table *table = att->target->table;
	struct pxt_attachment *found;

	mutex_lock(&table->lock);
	list_for_each_entry(found, &table->attachments, node) {
		if (found->mm == att->mm && found->target == att->target)
			goto use;
	}
	found = att;
	pxt_gate_note_program(att->target);
	list_add_tail(&found->node, &table->attachments);
use:
	found->users++;
	mutex_unlock(&table->lock);
	return found;
}

static void attachment_free(struct pxt_attachment *att)
{
	mmdrop(att->mm);
	pxt_target_put(att->target);
	kfree(att);
}

/**
 * pxt_target_attach() - let the calling process record
 *
 * Context: may sleep.
 * Return: for pxt_target_detach(), or NULL if there is no memory.
 */
struct pxt_attachment *pxt_target_attach(void)
{
	struct pxt_attachment *att = kzalloc(sizeof(*att), GFP_KERNEL_ACCOUNT), *shared;

	if (!att)
		return NULL;
	att->target = pxt_target_get(task_tgid(current), get_nr_threads(current));
	if (!att->target)
		goto free_att;
	if (pxt_gate_make(att->target))
		goto put_target;
	if (!READ_ONCE(att->target->text[PXT_TEXT_PROGRAM]))
		pxt_target_executed(att->target);
	att->mm = current->mm;
	mmgrab(att->mm);
	shared = share_attachment(att);
	if (shared != att)
		attachment_free(att);
	return shared;

put_target:
	pxt_target_put(att->target);
free_att:
	kfree(att);
	return NULL;
}

/**
 * pxt_target_detach() - end the attachment of a file
 * @att: from pxt_target_attach()
 *
 * Context: may sleep.
 */
void pxt_target_detach(struct pxt_attachment *att)
{
	struct pxt_table *table = att->target->table;
	bool last;

	mutex_lock(&table->lock);
	last = !--att->users;
	if (last)
		list_del(&att->node);
	mutex_unlock(&table->lock);
	if (last)
		attachment_free(att);
}

/**
 * pxt_target_acting() - the target of a caller that uses a file of another process
 * @att: of this address space
 *
 * A process that shares the memory of its parent, but is no thread of it, finds the file
 * that its parent has attached. It is a target of its own.
 *
 * Context: may sleep.
 * Return: a reference to the target of the caller; NULL if it has none with this table.
 */
struct pxt_target *pxt_target_acting(struct pxt_attachment *att)
{
	struct pxt_table *table = att->target->table;
	struct pxt_target *target = pxt_target_find(task_tgid(current));

	if (!target)
		return NULL;
	if (target->table != table) {
		pxt_target_put(target);
		return NULL;
	}
	mutex_lock(&table->lock);
	/*
	 * Before the caller looks at its gate. Pairs with the lock that gate.c takes: either
	 * the synchronization after a change of the gate sees @shared, or the caller sees the
	 * changed gate.
	 */
	att->shared = true;
	mutex_unlock(&table->lock);
	return target;
}
