// SPDX-License-Identifier: GPL-2.0
/*
 * The gates of traced processes, and the streams of each process. A stream has the same slot in all
 * processes it traces, which share a table: they descend from the first one, or were added.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring/pool.h"
#include "ring/recorder.h"
#include "ring/user.h"
#include "ring/wake.h"
#include "target/attachment.h"
#include "target/condition.h"
#include "target/gate.h"
#include "target/generation.h"
#include "target/image.h"
#include "target/interest.h"
#include "target/logtasks.h"
#include "target/synchronize.h"
#include "target/table.h"
#include "target/target.h"

static bool traces(const struct pxt_link *link, const struct pxt_target *target)
{
	return pxt_link_in(target, link->slot) == link;
}

static bool wants(const struct pxt_link *link, u32 id)
{
	return link->enabled && !pxt_link_filters(link, id);
}

/*
 * Generations are unique over all gates because the library caches slots by generation: a child
 * finds its parent's cache in memory and must not use it. The store follows a full barrier. It may
 * happen without table->lock, see pxt_gate_outdate(). If two stores race, both numbers are new to
 * the library, so it does not matter which one stays.
 */
static void gate_changed(struct pxt_target *target)
{
	WRITE_ONCE(target->gate->generation, pxt_generation_next());
}

/* Set or clear the bits of one stream in all words of one target. */
static void set_words(struct pxt_target *target, const struct pxt_link *link, bool on)
{
	u32 *enable = target->gate->enable, bit = BIT(link->slot), id, word;
	u32 end = pxt_table_end_locked(target->table);
	u64 filter = 0;

	/* The first id is the first bit of a filter word. */
	BUILD_BUG_ON(POSIXTRACE_ID_UNNAMED % 64);
	for (id = POSIXTRACE_ID_UNNAMED; id < end; id++, filter >>= 1) {
		if (id % 64 == 0)
			filter = on && link->enabled ? link->filter.bits[id / 64] : ~0ULL;
		word = filter & 1 ? enable[id] & ~bit : enable[id] | bit;
		/* Do not store an equal value: writers have the line cached. */
		if (enable[id] != word)
			WRITE_ONCE(enable[id], word);
	}
}

/* Set the word of one type for all streams of one target. */
static void set_type(struct pxt_target *target, u32 id)
{
	struct pxt_link *link;
	u32 slot, word = 0;

	/* The gate of an ended process is open for everything. */
	if (!target->gate || target->ended)
		return;
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = pxt_link_in(target, slot);
		if (!link || !wants(link, id))
			continue;
		word |= BIT(slot);
		if (pxt_conditions_have(link->conditions, id))
			word |= POSIXTRACE_GATE_CONDITION;
	}
	if (target->gate->enable[id] != word)
		WRITE_ONCE(target->gate->enable[id], word);
}

/* Set the words of the types that @conditions name. */
static void set_named(struct pxt_target *target, const struct pxt_conditions *conditions)
{
	u32 id;

	for_each_set_bit(id, (const unsigned long *)conditions->types.bits, POSIXTRACE_ID_MAX)
		set_type(target, id);
}

/*
 * Show the conditions of a stream to one of its targets, after its words or conditions have
 * changed. The condition comes before the word that leads to it.
 */
static void set_conditions(struct pxt_target *target, const struct pxt_link *link)
{
	const struct pxt_conditions *conditions = link->conditions;

	if (!conditions)
		return;
	if (link->enabled && !target->ended)
		pxt_conditions_show(target, link, true);
	else
		pxt_conditions_hide(target, link);
	set_named(target, conditions);
}

/* Update all targets of the stream. */
static void set_all_words(const struct pxt_link *link)
{
	struct pxt_target *target;

	list_for_each_entry(target, &link->table->targets, table_node) {
		if (traces(link, target)) {
			set_words(target, link, true);
			set_conditions(target, link);
		}
		/* A user may own a very large number of processes. */
		cond_resched();
	}
}

/**
 * pxt_gate_make() - allocate the gate of a target
 * @target: any
 *
 * Context: may sleep.
 * Return: 0, also if the gate exists already; -ENOMEM.
 */
int pxt_gate_make(struct pxt_target *target)
{
	struct posixtrace_gate *gate;

	if (READ_ONCE(target->gate))
		return 0;
	gate = __vmalloc(PXT_GATE_SIZE, GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_ZERO);
	if (!gate)
		return -ENOMEM;
	mutex_lock(&target->table->lock);
	/* A target without a gate has no stream, so its gate starts zeroed. */
	if (!target->gate) {
		/*
		 * Pairs with the acquire in pxt_gate_outdate(), pxt_record_event() and
		 * generation_of().
		 */
		smp_store_release(&target->gate, gate);
		gate = NULL;
	}
	mutex_unlock(&target->table->lock);
	vfree(gate);
	return 0;
}

/**
 * pxt_gate_note_program() - note the address of a process's program
 * @target: target of the process, with a gate; table->lock is held
 * @mm: its address space; the memory may be gone
 *
 * Records with addresses near the program can be packed. The target must not be attached with this
 * address space yet, so the process does not see the gate change. If the process saw another
 * address before, through an attachment that has ended, this invalidates its cache.
 */
void pxt_gate_note_program(struct pxt_target *target, const struct mm_struct *mm)
{
	u32 high = upper_32_bits(READ_ONCE(mm->start_code));

	if (target->gate->address_high == high)
		return;
	WRITE_ONCE(target->gate->address_high, high);
	/* Zero means that no stream has ever traced the process. */
	if (target->gate->generation)
		gate_changed(target);
}

static void enter(struct pxt_target *target, struct pxt_link *link, struct hlist_head *memory)
{
	rcu_assign_pointer(target->slot[link->slot], link);
	set_words(target, link, true);
	set_conditions(target, link);
	gate_changed(target);
	pxt_logtasks_enter(link->logtasks, target, memory);
	if (link->kernel_types) {
		if (!target->kernel_slots)
			pxt_interest_begin(target->pid);
		WRITE_ONCE(target->kernel_slots, target->kernel_slots | BIT(link->slot));
		pxt_interest_changed();
	}
}

/**
 * pxt_gate_count_logs() - count the streams with a log that trace a process
 * @target: target of the process. The number is stable under table->lock
 *
 * Return: number of these streams.
 */
u32 pxt_gate_count_logs(const struct pxt_target *target)
{
	const struct pxt_link *link;
	u32 slot, count = 0;

	rcu_read_lock();
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = rcu_dereference(target->slot[slot]);
		count += link && link->logtasks;
	}
	rcu_read_unlock();
	return count;
}

/* Drop old texts: logs of later streams must not contain them. */
static void drop_texts(struct pxt_target *target)
{
	u32 kind;

	for (kind = 0; kind < PXT_TEXTS; kind++) {
		pxt_text_put(target->text[kind]);
		target->text[kind] = NULL;
	}
}

static void leave(struct pxt_target *target, struct pxt_link *link)
{
	if (link->kernel_types) {
		WRITE_ONCE(target->kernel_slots, target->kernel_slots & ~BIT(link->slot));
		if (!target->kernel_slots)
			pxt_interest_end(target->pid);
	}
	set_words(target, link, false);
	/* Pairs with the load in pxt_met(), which checks the stream of a condition. */
	if (link->conditions)
		pxt_conditions_hide(target, link);
	rcu_assign_pointer(target->slot[link->slot], NULL);
	if (link->conditions)
		set_named(target, link->conditions);
	if (link->kernel_types)
		pxt_interest_changed();
	gate_changed(target);
	pxt_logtasks_leave(link->logtasks, target);
	if (!pxt_gate_count_logs(target))
		drop_texts(target);
}

/* Tell the recorder what the stream wants. Called with the lock of the stream. */
static void set_recorder(const struct pxt_link *link)
{
	u64 wanted = link->kernel_types & ~link->filter.bits[0];

	/* The filter applies to events only, not to the conditions of TRIGGER. */
	if (link->watched)
		wanted |= BIT(PXT_RECORDER_WATCHED);
	if (link->pool->recorder)
		pxt_recorder_want(link->pool->recorder, link->enabled ? wanted : 0);
}

/**
 * pxt_gate_outdate() - invalidate the library's cached slots
 * @target: target of the calling process
 *
 * Called when a new process is about to share the memory of this one, or a new thread the thread
 * pointer of its creator.
 * Context: any; the process has not ended.
 */
void pxt_gate_outdate(struct pxt_target *target)
{
	/* Pairs with the release in pxt_gate_make(). */
	if (!smp_load_acquire(&target->gate))
		return;
	/*
	 * The barrier in gate_changed() pairs with the read barrier in sync_slots(): a process
	 * that calls SYNC again sees what has changed before this call.
	 */
	gate_changed(target);
}

/* ------------------------------------------------------------------ */
/* Streams and their targets						*/

/* Each event costs others time for each stream. Called with table->lock. */
static bool has_room(const struct pxt_target *target, const struct pxt_link *link)
{
	const struct pxt_link *other;
	u32 slot, count = 0;

	if (!link->kernel_types || !link->limited)
		return true;
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		other = pxt_link_in(target, slot);
		count += other && other->kernel_types && other->limited;
	}
	return count < POSIXTRACE_KERNEL_SLOTS_MAX;
}

/**
 * pxt_gate_link() - attach a new stream to a target
 * @target: with a gate
 * @link: link of the stream, with the same table; receives its slot
 * @memory: from pxt_logtasks_prepare(), for all threads of the process if the stream has a log
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if all slots are taken, or all that may have kernel events; -ESTALE if the
 * process has ended or become another target.
 */
int pxt_gate_link(struct pxt_target *target, struct pxt_link *link, struct hlist_head *memory)
{
	int err = -EAGAIN;
	u32 slot;

	mutex_lock(&target->table->lock);
	pxt_table_enter(link->table, link);
	if (target->ended) {
		err = -ESTALE;
		goto unlock;
	}
	if (!has_room(target, link))
		goto unlock;
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (pxt_link_in(target, slot))
			continue;
		link->slot = slot;
		link->linked = true;
		link->author.process = target->author.number;
		link->author.image = pxt_image_get(&target->author);
		atomic_inc(&link->nr_targets);
		target->looks += !!link->logtasks;
		enter(target, link, memory);
		err = 0;
		break;
	}
unlock:
	mutex_unlock(&target->table->lock);
	return err;
}

/**
 * pxt_gate_add() - attach a stream to another process
 * @target: with a gate and the table of the stream
 * @link: link of the stream
 * @memory: from pxt_logtasks_prepare(), for all threads of the process if the stream has a log
 *
 * Context: may sleep.
 * Return: 0; -EALREADY if the stream traces it; -EBUSY if another stream has that slot there;
 * -EAGAIN if it has as many streams with kernel events as it may have;
 * -ESHUTDOWN if the stream has ended; -ENOTCONN if the last process that it traced has ended;
 * -ESTALE as pxt_gate_link().
 */
int pxt_gate_add(struct pxt_target *target, struct pxt_link *link, struct hlist_head *memory)
{
	int err = 0;

	mutex_lock(&target->table->lock);
	if (!link->linked)
		err = -ESHUTDOWN;
	else if (target->ended)
		err = -ESTALE;
	else if (pxt_link_in(target, link->slot))
		err = traces(link, target) ? -EALREADY : -EBUSY;
	else if (!has_room(target, link))
		err = -EAGAIN;
	/* Readers may have seen that no process is left, so the count must not leave 0. */
	else if (!atomic_inc_not_zero(&link->nr_targets))
		err = -ENOTCONN;
	if (!err) {
		target->looks += !!link->logtasks;
		enter(target, link, memory);
	}
	mutex_unlock(&target->table->lock);
	return err;
}

/**
 * pxt_gate_inherit() - attach a stream of the parent to a new target
 * @target: target of the calling process, with inherited streams only
 * @link: link of a stream that traced the parent at the fork and has counted the child
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ESTALE if the stream has ended.
 */
int pxt_gate_inherit(struct pxt_target *target, struct pxt_link *link)
{
	HLIST_HEAD(memory);
	int err = -ESTALE;

	if (pxt_gate_make(target))
		return -ENOMEM;
	/* One entry: the process is single-threaded. */
	pxt_logtasks_prepare(&memory, !!link->logtasks);
	mutex_lock(&target->table->lock);
	if (link->linked && !target->ended) {
		/*
		 * Needed for a child that shares its parent's memory: it records without attaching.
		 */
		pxt_gate_note_program(target, current->mm);
		enter(target, link, &memory);
		err = 0;
	}
	mutex_unlock(&target->table->lock);
	pxt_logtasks_unprepare(&memory);
	return err;
}

/**
 * pxt_gate_gone() - drop a process from the stream's count
 * @link: link of the stream that counted the process
 *
 * Wakes all readers after the last process, because there is no reason to defer records any longer.
 */
void pxt_gate_gone(struct pxt_link *link)
{
	if (!atomic_dec_and_test(&link->nr_targets))
		return;
	pxt_wake_defer(link->pool, 0);
	wake_up_poll(&link->pool->wake.wait, EPOLLHUP);
}

/**
 * pxt_gate_leave() - detach a stream from one process
 * @target: table->lock is held
 * @link: link of a stream that traces it
 *
 * The process is exiting or has just executed another program, so it runs no writer that a
 * synchronization would have to reach.
 */
void pxt_gate_leave(struct pxt_target *target, struct pxt_link *link)
{
	leave(target, link);
	/*
	 * The process may have recorded without WAKE, and perhaps no other writer is left to call
	 * it.
	 */
	pxt_wake_rest(link->pool);
	pxt_gate_gone(link);
}

/**
 * pxt_gate_open() - open the gate of a target that has ended
 * @target: without streams; table->lock is held
 *
 * Another process that shares its memory may still use this gate. An open gate makes that process
 * call the module for each event, and the module decides if the event is recorded.
 */
void pxt_gate_open(struct pxt_target *target)
{
	u32 id;

	for (id = 0; target->gate && id < POSIXTRACE_ID_MAX; id++)
		WRITE_ONCE(target->gate->enable[id], ~0U);
}

/* May a process with this attachment write to the stream? Called with table->lock. */
static bool concerns(const struct pxt_attachment *att, const struct pxt_link *link)
{
	return att->shared || traces(link, att->target);
}

static void mark(struct pxt_link *link)
{
	struct pxt_attachment *att;

	list_for_each_entry(att, &link->table->attachments, node) {
		att->marked = concerns(att, link);
		cond_resched();
	}
}

/*
 * Interrupt the CPUs of the marked processes. Called after the stores that their writers must see.
 * Drops the lock. If some of the CPUs might not be running a traced process, wait until the user
 * may interrupt them; without @wait, return false and interrupt none.
 */
static bool reach_marked(struct pxt_link *link, struct pxt_synchronize *q, bool wait)
{
	struct pxt_attachment *att;

	pxt_synchronize_look();
	list_for_each_entry(att, &link->table->attachments, node) {
		if (att->marked)
			pxt_synchronize_add(q, att->target->pid, att->mm);
		cond_resched();
	}
	mutex_unlock(&link->table->lock);
	if (q->strangers && !pxt_user_interrupt(link->pool->charge, wait)) {
		pxt_synchronize_cancel(q);
		return false;
	}
	pxt_synchronize_end(q);
	return true;
}

/**
 * pxt_gate_unlink() - detach a stream from all its targets
 * @link: link of a stream that is shut down
 *
 * On return, no writer that found the stream in a slot is active. Context: may sleep.
 */
void pxt_gate_unlink(struct pxt_link *link)
{
	struct pxt_target *target;
	struct pxt_synchronize q;

	pxt_synchronize_begin(&q);
	mutex_lock(&link->table->lock);
	/* From now on, children cannot inherit the stream. */
	link->linked = false;
	link->enabled = false;
	set_recorder(link);
	mark(link);
	list_for_each_entry(target, &link->table->targets, table_node) {
		cond_resched();
		if (!traces(link, target))
			continue;
		leave(target, link);
		atomic_dec(&link->nr_targets);
	}
	reach_marked(link, &q, true);
}

/**
 * pxt_gate_set_enabled() - open or shut the gates for a stream
 * @link: link of the stream; the stream is locked
 * @on: true: open them, for event types that are not filtered
 *
 * A synchronization must follow after shutting them. Context: may sleep.
 */
void pxt_gate_set_enabled(struct pxt_link *link, bool on)
{
	mutex_lock(&link->table->lock);
	link->enabled = on;
	set_all_words(link);
	set_recorder(link);
	mutex_unlock(&link->table->lock);
}

/**
 * pxt_gate_watch() - compare the times of traced threads with thresholds, until the stream ends
 * @link: of the stream; the stream is locked
 *
 * Does not end when the thresholds are removed: each change makes all CPUs of the machine look up
 * their threads again, so a stream may cause only one. Context: may sleep.
 */
void pxt_gate_watch(struct pxt_link *link)
{
	mutex_lock(&link->table->lock);
	if (!link->watched) {
		WRITE_ONCE(link->watched, true);
		set_recorder(link);
		pxt_interest_changed();
	}
	mutex_unlock(&link->table->lock);
}

/* A new type of an existing name inherits the filter bit of the older type. */
static void take_over(struct posixtrace_event_set *filter, const struct pxt_type *type)
{
	u64 like = filter->bits[type->like / 64] & BIT_ULL(type->like % 64);

	if (!type->like)
		return;
	filter->bits[type->id / 64] &= ~BIT_ULL(type->id % 64);
	if (like)
		filter->bits[type->id / 64] |= BIT_ULL(type->id % 64);
}

/**
 * pxt_gate_set_filter() - change the filter of a stream
 * @link: link of the stream; the stream is locked
 * @filter: event types that are not recorded from now on
 * @known: number of types when it was computed, from pxt_gate_get_filter()
 *
 * If members are added, a synchronization must follow. Context: may sleep.
 */
void pxt_gate_set_filter(struct pxt_link *link, const struct posixtrace_event_set *filter,
			 u32 known)
{
	const struct pxt_table *table = link->table;
	const struct pxt_type *type;
	u32 i = 0;

	mutex_lock(&link->table->lock);
	link->filter = *filter;
	list_for_each_entry(type, &table->types, node) {
		if (i++ >= known)
			take_over(&link->filter, type);
	}
	set_all_words(link);
	set_recorder(link);
	mutex_unlock(&link->table->lock);
}

/**
 * pxt_gate_get_filter() - read the filter of a stream
 * @link: link of the stream
 * @filter: result
 *
 * Context: may sleep.
 * Return: number of types.
 */
u32 pxt_gate_get_filter(struct pxt_link *link, struct posixtrace_event_set *filter)
{
	u32 count;

	mutex_lock(&link->table->lock);
	*filter = link->filter;
	count = link->table->count;
	mutex_unlock(&link->table->lock);
	return count;
}

/**
 * pxt_gate_new_type() - open the gates for a new event type
 * @table: its lock is held
 * @type: the new type
 *
 * It is recorded immediately, not only after the next START.
 */
void pxt_gate_new_type(struct pxt_table *table, const struct pxt_type *type)
{
	struct pxt_target *target;
	struct pxt_link *link;

	list_for_each_entry(link, &table->links, node)
		take_over(&link->filter, type);
	list_for_each_entry(target, &table->targets, table_node) {
		set_type(target, type->id);
		cond_resched();
	}
}

/**
 * pxt_gate_learned() - show an event type that a program has opened to the conditions
 * @table: its lock is held
 * @type: a type that the program has just opened; another program may have opened it before
 */
void pxt_gate_learned(struct pxt_table *table, const struct pxt_type *type)
{
	struct pxt_target *target;
	struct pxt_link *link;

	list_for_each_entry(link, &table->links, node) {
		if (!link->conditions || !pxt_conditions_learn(link->conditions, type))
			continue;
		list_for_each_entry(target, &table->targets, table_node) {
			cond_resched();
			if (!traces(link, target))
				continue;
			if (link->enabled && !target->ended)
				pxt_conditions_show(target, link, false);
			set_type(target, type->id);
		}
	}
}

/**
 * pxt_gate_set_conditions() - replace the conditions of a stream on events
 * @link: link of the stream; the stream is locked
 * @conditions: the new ones, owned by the link now; or NULL
 *
 * On return, a process that has met a former condition finds another number in its gate. Context:
 * may sleep.
 */
void pxt_gate_set_conditions(struct pxt_link *link, struct pxt_conditions *conditions)
{
	struct pxt_conditions *old;
	struct pxt_target *target;

	mutex_lock(&link->table->lock);
	if (conditions)
		pxt_conditions_begin(conditions, link->table);
	old = link->conditions;
	link->conditions = conditions;
	list_for_each_entry(target, &link->table->targets, table_node) {
		cond_resched();
		if (!traces(link, target))
			continue;
		if (old) {
			pxt_conditions_hide(target, link);
			set_named(target, old);
		}
		set_conditions(target, link);
	}
	mutex_unlock(&link->table->lock);
	kfree(old);
}

/**
 * pxt_gate_not_pending() - let processes tell again that a condition was met
 * @link: link of a stream
 *
 * Called after the controller has read what was met. Context: may sleep.
 */
void pxt_gate_not_pending(struct pxt_link *link)
{
	struct pxt_target *target;

	mutex_lock(&link->table->lock);
	/* Pairs with the barrier in show_pending(). */
	smp_mb();
	list_for_each_entry(target, &link->table->targets, table_node) {
		if (traces(link, target) && READ_ONCE(target->gate->pending[link->slot]))
			WRITE_ONCE(target->gate->pending[link->slot], 0);
		cond_resched();
	}
	mutex_unlock(&link->table->lock);
}

static bool synchronize(struct pxt_link *link, bool wait)
{
	struct pxt_synchronize q;

	pxt_synchronize_begin(&q);
	mutex_lock(&link->table->lock);
	mark(link);
	return reach_marked(link, &q, wait);
}

/**
 * pxt_gate_synchronize() - reach all writers of a stream
 * @link: link of a stream with changed gates or heads
 *
 * On return, every writer that saw the old state has committed its record or never will. Context:
 * may sleep.
 */
void pxt_gate_synchronize(struct pxt_link *link)
{
	synchronize(link, true);
}

/**
 * pxt_gate_try_synchronize() - reach all writers of a stream, unless this disturbs others too often
 * @link: link of a stream with need_wakeup set
 *
 * Context: may sleep.
 * Return: true if it did; otherwise the caller must look for records of writers that saw the old
 * state.
 */
bool pxt_gate_try_synchronize(struct pxt_link *link)
{
	return synchronize(link, false);
}
