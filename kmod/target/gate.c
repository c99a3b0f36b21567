// SPDX-License-Identifier: GPL-2.0
/*
 * The gates of the traced processes, and which streams are on whom. A stream has
 * the same slot on all processes that it traces: they descend from the first one,
 * and share a table.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring/wake.h"
#include "target/gate.h"
#include "target/synchronize.h"
#include "target/target.h"

static struct pxt_link *link_in(const struct pxt_target *target, u32 slot)
{
	return rcu_dereference_protected(target->slot[slot],
					 lockdep_is_held(&target->table->lock));
}

static bool traces(const struct pxt_link *link, const struct pxt_target *target)
{
	return link_in(target, link->slot) == link;
}

static bool wants(const struct pxt_link *link, u32 id)
{
	return link->enabled && !pxt_link_filters(link, id);
}

static void gate_changed(struct pxt_target *target)
{
	/* Not only under table->lock: see pxt_gate_outdate(). */
	atomic_inc((atomic_t *)&target->gate->generation);
}

/* The bits of one stream in all words of one target. */
static void set_words(struct pxt_target *target, const struct pxt_link *link, bool on)
{
	u32 *enable = target->gate->enable, bit = BIT(link->slot), id, word;
	u32 end = pxt_table_end_locked(target->table);
	u64 filter = 0;

	/* The first one is at the beginning of a word of the filter. */
	BUILD_BUG_ON(POSIXTRACE_ID_UNNAMED % 64);
	for (id = POSIXTRACE_ID_UNNAMED; id < end; id++, filter >>= 1) {
		if (id % 64 == 0)
			filter = on && link->enabled ? link->filter.bits[id / 64] : ~0ULL;
		word = filter & 1 ? enable[id] & ~bit : enable[id] | bit;
		/* Writers have it in their caches. */
		if (enable[id] != word)
			WRITE_ONCE(enable[id], word);
	}
}

/* The same of all targets that it has. */
static void set_all_words(const struct pxt_link *link)
{
	struct pxt_target *target;

	list_for_each_entry(target, &link->table->targets, table_node) {
		if (traces(link, target))
			set_words(target, link, true);
		/* A family has as many processes as its user may have. */
		cond_resched();
	}
}

/**
 * pxt_gate_make() - a target needs its gate
 * @target: any
 *
 * Context: may sleep.
 * Return: 0, also if it has it; -ENOMEM.
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
	/* Without a gate it had no stream: what is zero is right. */
	if (!target->gate) {
		/* Pairs with the loads of those who have not made it themselves. */
		smp_store_release(&target->gate, gate);
		gate = NULL;
	}
	mutex_unlock(&target->table->lock);
	vfree(gate);
	return 0;
}

static void enter(struct pxt_target *target, struct pxt_link *link)
{
	rcu_assign_pointer(target->slot[link->slot], link);
	set_words(target, link, true);
	gate_changed(target);
}

/**
 * pxt_gate_outdate() - what the library knows of its slots is not right any more
 * @target: of the calling process
 *
 * It has to ask anew: its memory becomes that of another process, too, or one of its
 * threads becomes two. Context: any; the process has not ended.
 */
void pxt_gate_outdate(struct pxt_target *target)
{
	/* Pairs with the release in pxt_gate_make(). */
	if (!smp_load_acquire(&target->gate))
		return;
	/* Pairs with the read barrier in sync_slots(): who asks anew sees why. */
	smp_mb__before_atomic();
	gate_changed(target);
}

/**
 * pxt_gate_link() - put a new stream on a target
 * @target: with a gate
 * @link: of the stream, with the same table; gets its slot
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if all slots are taken; -ESTALE if the process has ended, or
 * is another target now.
 */
int pxt_gate_link(struct pxt_target *target, struct pxt_link *link)
{
	int err = -EAGAIN;
	u32 slot;

	mutex_lock(&target->table->lock);
	if (target->ended) {
		err = -ESTALE;
		goto unlock;
	}
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (link_in(target, slot))
			continue;
		link->slot = slot;
		link->linked = true;
		atomic_inc(&link->nr_targets);
		enter(target, link);
		err = 0;
		break;
	}
unlock:
	mutex_unlock(&target->table->lock);
	return err;
}

/**
 * pxt_gate_inherit() - put a stream of its parent on a new target
 * @target: which has no other streams
 * @link: of the stream, which traced its parent when that forked, and counted the child
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ESTALE if the stream has ended.
 */
int pxt_gate_inherit(struct pxt_target *target, struct pxt_link *link)
{
	int err = -ESTALE;

	if (pxt_gate_make(target))
		return -ENOMEM;
	mutex_lock(&target->table->lock);
	if (link->linked && !target->ended) {
		enter(target, link);
		err = 0;
	}
	mutex_unlock(&target->table->lock);
	return err;
}

/**
 * pxt_gate_gone() - a stream traces one process less
 * @link: of the stream, which counted it
 *
 * If it was the last one, those who poll are told.
 */
void pxt_gate_gone(struct pxt_link *link)
{
	if (atomic_dec_and_test(&link->nr_targets))
		wake_up_poll(&link->pool->wait, EPOLLHUP);
}

/**
 * pxt_gate_leave() - take one process off a stream
 * @target: table->lock is held
 * @link: of the stream, which traces it
 *
 * The process ends, or has just become another program: nobody is in there that
 * a synchronization would have to reach.
 */
void pxt_gate_leave(struct pxt_target *target, struct pxt_link *link)
{
	set_words(target, link, false);
	rcu_assign_pointer(target->slot[link->slot], NULL);
	gate_changed(target);
	/* The process may have recorded without WAKE. */
	pxt_wake_look(link->pool);
	pxt_gate_gone(link);
}

/**
 * pxt_gate_open() - a process is no target any more
 * @target: without streams; table->lock is held
 *
 * Another process, which shares its memory, may look at this gate: it goes on asking
 * the module, which knows better.
 */
void pxt_gate_open(struct pxt_target *target)
{
	u32 id;

	for (id = 0; target->gate && id < POSIXTRACE_ID_MAX; id++)
		WRITE_ONCE(target->gate->enable[id], ~0U);
}

/* Will a writer for this stream be found there? With table->lock. */
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

/* After the stores that the marked ones must not overlook. Gives the lock back. */
static void reach_marked(struct pxt_link *link, struct pxt_synchronize *q)
{
	struct pxt_attachment *att;

	pxt_synchronize_look();
	list_for_each_entry(att, &link->table->attachments, node) {
		if (att->marked)
			pxt_synchronize_add(q, att->target->pid, att->mm);
		cond_resched();
	}
	mutex_unlock(&link->table->lock);
	pxt_synchronize_end(q);
}

/**
 * pxt_gate_unlink() - take a stream off all its targets
 * @link: of the stream, which is shut down
 *
 * When it returns, nobody is left who found it there. Context: may sleep.
 */
void pxt_gate_unlink(struct pxt_link *link)
{
	struct pxt_target *target;
	struct pxt_synchronize q;

	pxt_synchronize_begin(&q);
	mutex_lock(&link->table->lock);
	/* Nobody inherits it any more. */
	link->linked = false;
	link->enabled = false;
	mark(link);
	list_for_each_entry(target, &link->table->targets, table_node) {
		cond_resched();
		if (!traces(link, target))
			continue;
		set_words(target, link, false);
		rcu_assign_pointer(target->slot[link->slot], NULL);
		gate_changed(target);
		atomic_dec(&link->nr_targets);
	}
	reach_marked(link, &q);
}

/**
 * pxt_gate_set_enabled() - open or shut the gates for a stream
 * @link: of the stream, which is locked
 * @on: whether to open them, for what the filter lets through
 *
 * When they are shut, a synchronization has to follow. Context: may sleep.
 */
void pxt_gate_set_enabled(struct pxt_link *link, bool on)
{
	mutex_lock(&link->table->lock);
	link->enabled = on;
	set_all_words(link);
	mutex_unlock(&link->table->lock);
}

/**
 * pxt_gate_set_filter() - change the filter of a stream
 * @link: of the stream, which is locked
 * @filter: event types that are not recorded from now on
 *
 * When it has new members, a synchronization has to follow. Context: may sleep.
 */
void pxt_gate_set_filter(struct pxt_link *link, const struct posixtrace_event_set *filter)
{
	mutex_lock(&link->table->lock);
	link->filter = *filter;
	set_all_words(link);
	mutex_unlock(&link->table->lock);
}

/**
 * pxt_gate_set_type() - open the gate for a new event type
 * @target: table->lock is held
 * @id: of the type
 */
void pxt_gate_set_type(struct pxt_target *target, u32 id)
{
	struct pxt_link *link;
	u32 slot, word = 0;

	if (!target->gate)
		return;
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		link = link_in(target, slot);
		if (link && wants(link, id))
			word |= BIT(slot);
	}
	WRITE_ONCE(target->gate->enable[id], word);
}

/**
 * pxt_gate_synchronize() - reach all who record into a stream
 * @link: of the stream, whose gates, or heads, have changed
 *
 * When it returns, every writer that saw the old state has committed its record
 * or never will. Context: may sleep.
 */
void pxt_gate_synchronize(struct pxt_link *link)
{
	struct pxt_synchronize q;

	pxt_synchronize_begin(&q);
	mutex_lock(&link->table->lock);
	mark(link);
	reach_marked(link, &q);
}
