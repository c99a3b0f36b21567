// SPDX-License-Identifier: GPL-2.0
/*
 * Traced processes: who is one, which streams are on it, and the gate that tells
 * it. What it records is in record.c.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "stream.h"
#include "target.h"

#define TARGET_BITS	6

/* Guards the hash, and the last put of a target against finding it there. */
static DEFINE_MUTEX(pxt_targets_lock);
static struct hlist_head pxt_targets[1 << TARGET_BITS];

static struct pxt_target *target_new(struct pid *pid)
{
	struct pxt_target *target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);

	if (!target)
		return NULL;
	target->gate = __vmalloc(PAGE_ALIGN(sizeof(*target->gate)),
				 GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!target->gate)
		goto free_target;
	target->table = pxt_table_new();
	if (!target->table)
		goto free_gate;
	kref_init(&target->kref);
	INIT_LIST_HEAD(&target->attachments);
	target->pid = get_pid(pid);
	list_add_tail(&target->table_node, &target->table->targets);
	return target;

free_gate:
	vfree(target->gate);
free_target:
	kfree(target);
	return NULL;
}

static void target_free(struct pxt_target *target)
{
	mutex_lock(&target->table->lock);
	list_del(&target->table_node);
	mutex_unlock(&target->table->lock);
	pxt_table_put(target->table);
	vfree(target->gate);
	put_pid(target->pid);
	kfree(target);
}

/* A reference to the one that is there, else @target becomes it. */
static struct pxt_target *find_or_add(struct pid *pid, struct pxt_target *target)
{
	struct hlist_head *bucket = &pxt_targets[hash_ptr(pid, TARGET_BITS)];
	struct pxt_target *found;

	mutex_lock(&pxt_targets_lock);
	hlist_for_each_entry(found, bucket, node) {
		if (found->pid == pid) {
			kref_get(&found->kref);
			goto unlock;
		}
	}
	found = target;
	if (found)
		hlist_add_head(&found->node, bucket);
unlock:
	mutex_unlock(&pxt_targets_lock);
	return found;
}

/**
 * pxt_target_get() - the target of a process, new if need be
 * @pid: of its thread group
 *
 * Context: may sleep.
 * Return: one reference, or NULL if there is no memory.
 */
struct pxt_target *pxt_target_get(struct pid *pid)
{
	struct pxt_target *found = find_or_add(pid, NULL), *mine;

	if (found)
		return found;
	/* Without the lock: who waits for memory makes nobody else wait. */
	mine = target_new(pid);
	if (!mine)
		return NULL;
	found = find_or_add(pid, mine);
	if (found != mine)
		target_free(mine);
	return found;
}

/**
 * pxt_target_ref() - one more reference
 * @target: of which the caller has one
 */
void pxt_target_ref(struct pxt_target *target)
{
	kref_get(&target->kref);
}

/* With pxt_targets_lock, which it gives back. */
static void target_release(struct kref *kref)
{
	struct pxt_target *target = container_of(kref, struct pxt_target, kref);

	hlist_del(&target->node);
	mutex_unlock(&pxt_targets_lock);
	target_free(target);
}

/**
 * pxt_target_put() - give a reference back
 * @target: not used by the caller any more
 *
 * Context: may sleep.
 */
void pxt_target_put(struct pxt_target *target)
{
	kref_put_mutex(&target->kref, target_release, &pxt_targets_lock);
}

/* The attachment of this address space: the one that is there, else @att. */
static struct pxt_attachment *share_attachment(struct pxt_attachment *att)
{
	struct pxt_target *target = att->target;
	struct pxt_attachment *found;

	mutex_lock(&target->table->lock);
	list_for_each_entry(found, &target->attachments, node) {
		if (found->mm == att->mm)
			goto use;
	}
	found = att;
	list_add_tail(&found->node, &target->attachments);
use:
	found->users++;
	mutex_unlock(&target->table->lock);
	return found;
}

static void attachment_free(struct pxt_attachment *att)
{
	mmdrop(att->mm);
	pxt_target_put(att->target);
	kfree(att);
}

/**
 * pxt_target_attach() - the calling process wants to record
 *
 * Context: may sleep.
 * Return: for pxt_target_detach(), or NULL if there is no memory.
 */
struct pxt_attachment *pxt_target_attach(void)
{
	struct pxt_attachment *att = kzalloc(sizeof(*att), GFP_KERNEL_ACCOUNT), *shared;

	if (!att)
		return NULL;
	att->target = pxt_target_get(task_tgid(current));
	if (!att->target) {
		kfree(att);
		return NULL;
	}
	att->mm = current->mm;
	mmgrab(att->mm);
	shared = share_attachment(att);
	if (shared != att)
		attachment_free(att);
	return shared;
}

/**
 * pxt_target_detach() - a file of a target has gone
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

static void gate_changed(struct pxt_target *target)
{
	WRITE_ONCE(target->gate->generation, target->gate->generation + 1);
}

static bool wants(const struct pxt_stream *stream, u32 id)
{
	return stream->enabled && !pxt_stream_filters(stream, id);
}

/* The bits of one stream in all words. */
static void set_words(struct pxt_target *target, const struct pxt_stream *stream)
{
	u32 *enable = target->gate->enable, bit = BIT(stream->slot), id;

	for (id = POSIXTRACE_ID_UNNAMED; pxt_table_has(target->table, id); id++)
		WRITE_ONCE(enable[id], (enable[id] & ~bit) | (wants(stream, id) ? bit : 0));
}

/**
 * pxt_target_link() - put a stream on a target
 * @target: any
 * @stream: suspended; gets its slot
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if all slots are taken.
 */
int pxt_target_link(struct pxt_target *target, struct pxt_stream *stream)
{
	int err = -EAGAIN;
	u32 slot;

	mutex_lock(&target->table->lock);
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (rcu_access_pointer(target->slot[slot]))
			continue;
		stream->slot = slot;
		rcu_assign_pointer(target->slot[slot], stream);
		gate_changed(target);
		err = 0;
		break;
	}
	mutex_unlock(&target->table->lock);
	return err;
}

/**
 * pxt_target_unlink() - take a stream off a target
 * @target: on which it is
 * @stream: which is shut down
 *
 * A quiesce has to follow before its memory goes. Context: may sleep.
 */
void pxt_target_unlink(struct pxt_target *target, struct pxt_stream *stream)
{
	mutex_lock(&target->table->lock);
	stream->enabled = false;
	set_words(target, stream);
	rcu_assign_pointer(target->slot[stream->slot], NULL);
	gate_changed(target);
	mutex_unlock(&target->table->lock);
}

/**
 * pxt_target_set_stream() - open or shut the gate for a stream
 * @target: on which it is
 * @stream: locked
 * @on: whether to open it, for what the filter lets through
 *
 * When it is shut, a quiesce has to follow. Context: may sleep.
 */
void pxt_target_set_stream(struct pxt_target *target, struct pxt_stream *stream, bool on)
{
	mutex_lock(&target->table->lock);
	stream->enabled = on;
	set_words(target, stream);
	mutex_unlock(&target->table->lock);
}

/**
 * pxt_target_set_filter() - change the filter of a stream
 * @target: on which it is
 * @stream: locked
 * @filter: event types that are not recorded from now on
 *
 * When it has new members, a quiesce has to follow. Context: may sleep.
 */
void pxt_target_set_filter(struct pxt_target *target, struct pxt_stream *stream,
			   const struct posixtrace_event_set *filter)
{
	mutex_lock(&target->table->lock);
	stream->filter = *filter;
	set_words(target, stream);
	mutex_unlock(&target->table->lock);
}

/**
 * pxt_target_set_type() - open the gate for a new event type
 * @target: table->lock is held
 * @id: of the type
 */
void pxt_target_set_type(struct pxt_target *target, u32 id)
{
	struct pxt_stream *stream;
	u32 slot, word = 0;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = rcu_dereference_protected(target->slot[slot],
						   lockdep_is_held(&target->table->lock));
		if (stream && wants(stream, id))
			word |= BIT(slot);
	}
	WRITE_ONCE(target->gate->enable[id], word);
}

/**
 * pxt_target_quiesce() - reach all who record in this process
 * @target: whose gate, or whose streams' heads, have changed
 *
 * When it returns, every writer that saw the old state has committed its record
 * or never will. Context: may sleep.
 */
void pxt_target_quiesce(struct pxt_target *target)
{
	struct pxt_attachment *att;
	struct pxt_quiesce q;

	pxt_quiesce_begin(&q);
	mutex_lock(&target->table->lock);
	list_for_each_entry(att, &target->attachments, node)
		pxt_quiesce_add(&q, att->mm);
	mutex_unlock(&target->table->lock);
	pxt_quiesce_end(&q);
}
