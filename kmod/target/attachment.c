// SPDX-License-Identifier: GPL-2.0
/*
 * Attachments: processes that map the gate. Each program linked with the library attaches at its
 * start, and most are never traced. Such a process only has an attachment: it becomes a target when
 * a stream traces it or when it opens a name.
 *
 * Until then its gate is a page of zeros shared by all such processes. When the attachment gets a
 * target, the page is unmapped, and the next access finds the gate of the process, see gatemap.c.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>

#include "target/attachment.h"
#include "target/gate.h"
#include "target/image.h"
#include "target/memory.h"
#include "target/target.h"
#include "target/targets.h"

#define BITS	12

/* How long a tracer waits for threads in a page fault of the gate. */
#define VISIT_MS	1000

/* Maximum attachments of others with the memory of a process to notify when it is traced. */
#define OTHERS_MAX	16

/* Maximum attachments to check while looking for other processes. */
#define OTHERS_SEEN	64

/**
 * struct bucket - some of the attachments
 * @lock: guards the list; innermost
 * @head: newest first. By process, it has at most one attachment of each, see find_mine(). By
 *	address space, it may have many of one, so look at the first OTHERS_SEEN only
 */
struct bucket {
	spinlock_t lock; /* guards head */
	struct hlist_head head;
};

/* All attachments, by process and by address space. */
static struct bucket by_pid[1 << BITS];
static struct bucket by_mm[1 << BITS];

/* Number of the last attachment. */
static atomic64_t attachments_made;

static struct bucket *pid_bucket(const struct pid *pid)
{
	return &by_pid[hash_ptr(pid, BITS)];
}

static struct bucket *mm_bucket(const void *mm)
{
	return &by_mm[hash_ptr(mm, BITS)];
}

static void add_to(struct bucket *bucket, struct hlist_node *node)
{
	spin_lock(&bucket->lock);
	hlist_add_head(node, &bucket->head);
	spin_unlock(&bucket->lock);
}

/* Also works for a node that was never added. */
static void remove_from(struct bucket *bucket, struct hlist_node *node)
{
	spin_lock(&bucket->lock);
	hlist_del_init(node);
	spin_unlock(&bucket->lock);
}

/**
 * pxt_attachment_init() - start with a number unused since boot
 *
 * The library caches by number, even across rmmod and insmod: never reuse a number.
 */
void pxt_attachment_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(by_pid); i++) {
		spin_lock_init(&by_pid[i].lock);
		spin_lock_init(&by_mm[i].lock);
	}
	atomic64_set(&attachments_made, ktime_get_boottime_ns());
}

static void attachment_free(struct pxt_attachment *att)
{
	if (att->target)
		pxt_target_put(att->target);
	mmdrop(att->mm);
	put_pid(att->pid);
	iput(att->inode);
	/* A page fault may still try to get a reference. */
	kfree_rcu(att, rcu);
}

static void attachment_release(struct kref *kref)
{
	struct pxt_attachment *att = container_of(kref, struct pxt_attachment, kref);

	remove_from(pid_bucket(att->pid), &att->pid_node);
	remove_from(mm_bucket(att->mm), &att->mm_node);
	if (att->target) {
		mutex_lock(&att->target->table->lock);
		list_del(&att->node);
		mutex_unlock(&att->target->table->lock);
	}
	attachment_free(att);
}

/**
 * pxt_attachment_put() - put a reference
 * @att: no longer used by the caller
 *
 * Context: may sleep.
 */
void pxt_attachment_put(struct pxt_attachment *att)
{
	kref_put(&att->kref, attachment_release);
}

/**
 * pxt_attachment_try_ref() - get a reference, unless the last one is gone
 * @att: found under RCU or with a lock
 *
 * Return: @att, or NULL.
 */
struct pxt_attachment *pxt_attachment_try_ref(struct pxt_attachment *att)
{
	return kref_get_unless_zero(&att->kref) ? att : NULL;
}

/*
 * Find the attachment of the calling process in its address space: a reference, or NULL. Called
 * with the lock.
 *
 * Also removes its attachment of an earlier address space. An exec keeps the files that have it, so
 * a program that attaches and executes itself would lengthen the list each time.
 */
static struct pxt_attachment *find_mine(struct bucket *bucket)
{
	struct pxt_attachment *att;
	struct hlist_node *next;

	hlist_for_each_entry_safe(att, next, &bucket->head, pid_node) {
		if (att->pid != task_tgid(current))
			continue;
		if (att->mm != current->mm)
			hlist_del_init(&att->pid_node);
		else if (pxt_attachment_try_ref(att))
			return att;
	}
	return NULL;
}

static struct pxt_attachment *attachment_new(struct inode *inode)
{
	struct pxt_attachment *att = kzalloc(sizeof(*att), GFP_KERNEL_ACCOUNT);

	if (!att)
		return NULL;
	kref_init(&att->kref);
	att->number = atomic64_inc_return(&attachments_made);
	att->pid = get_pid(task_tgid(current));
	att->mm = current->mm;
	mmgrab(att->mm);
	ihold(inode);
	att->inode = inode;
	return att;
}

/* Return the attachment of the calling process. If it has none, add @mine. */
static struct pxt_attachment *find_or_add(struct pxt_attachment *mine)
{
	struct bucket *bucket = pid_bucket(mine->pid);
	struct pxt_attachment *found;

	spin_lock(&bucket->lock);
	found = find_mine(bucket);
	if (!found)
		hlist_add_head(&mine->pid_node, &bucket->head);
	spin_unlock(&bucket->lock);
	if (found)
		return found;
	add_to(mm_bucket(mine->mm), &mine->mm_node);
	return mine;
}

/*
 * Set the target of an attachment; the target has a gate. No effect if another task has set it
 * already, or if the target has ended with its last thread or by an exec.
 */
static void bind(struct pxt_attachment *att, struct pxt_target *target)
{
	mutex_lock(&target->table->lock);
	if (!att->target && !target->ended) {
		pxt_target_ref(target);
		pxt_gate_note_program(target, att->mm);
		/*
		 * Add it to the list before the process sees the gate, so that synchronizations
		 * reach it.
		 */
		list_add_tail(&att->node, &target->table->attachments);
		/* Pairs with the acquire in pxt_attachment_bound(). */
		smp_store_release(&att->target, target);
	}
	mutex_unlock(&target->table->lock);
}

/* ------------------------------------------------------------------ */
/* When the gate changes						*/

static void unmap(struct pxt_attachment *att)
{
	unmap_mapping_range(att->inode->i_mapping, 0, PXT_GATE_SIZE, 1);
}

/*
 * Make it visible to the process that the attachment now has a target, or is open: unmap the page
 * that the process sees as its gate. A page fault that began earlier may map this page again. Its
 * thread unmaps the page before it returns to user mode, but another thread could read the page
 * until then, so wait for such faults: at most @patience jiffies. Returns the jiffies left. Only
 * threads of the process can delay this, and the delay only affects how soon the process sees a
 * stream.
 */
static long show(struct pxt_attachment *att, long patience)
{
	/*
	 * Pairs with the barrier in pxt_attachment_visit(): either the page fault sees the target,
	 * or this function sees the visitor.
	 */
	smp_mb();
	unmap(att);
	if (!patience || !atomic_read(&att->visitors))
		return patience;
	patience = ___wait_var_event(&att->visitors,
				     ___wait_cond_timeout(!atomic_read(&att->visitors)),
				     TASK_KILLABLE, 0, patience,
				     __ret = schedule_timeout(__ret));
	unmap(att);
	/* Negative after a fatal signal. */
	return max(patience, 0L);
}

/**
 * pxt_attachment_visit() - note that a thread may be about to map the shut gate
 * @att: attachment of the thread's address space
 *
 * Call pxt_attachment_leave() after the page fault.
 */
void pxt_attachment_visit(struct pxt_attachment *att)
{
	atomic_inc(&att->visitors);
	/* The caller looks for the target after this. Pairs with the barrier in show(). */
	smp_mb__after_atomic();
}

/**
 * pxt_attachment_leave() - unmap the shut gate if it became outdated during the page fault
 * @att: from pxt_attachment_visit()
 *
 * Called before the thread runs again. Context: may sleep.
 */
void pxt_attachment_leave(struct pxt_attachment *att)
{
	/* Look for the target after the page was mapped. Pairs with the barrier in show(). */
	smp_mb();
	if (pxt_attachment_bound(att) || READ_ONCE(att->open))
		unmap(att);
	if (atomic_dec_and_test(&att->visitors))
		wake_up_var(&att->visitors);
}

/* Find an attachment of the process without a target: a reference, or NULL. */
static struct pxt_attachment *find_unbound(const struct pxt_target *target)
{
	struct bucket *bucket = pid_bucket(target->pid);
	struct pxt_attachment *att;

	spin_lock(&bucket->lock);
	hlist_for_each_entry(att, &bucket->head, pid_node) {
		if (att->pid == target->pid && !READ_ONCE(att->target) &&
		    pxt_attachment_try_ref(att))
			break;
	}
	spin_unlock(&bucket->lock);
	return att;
}

/* Find an attachment of another process with the same memory that has no target and is not open. */
static struct pxt_attachment *find_other(const struct pxt_target *target)
{
	const void *mm = READ_ONCE(target->mm);
	struct bucket *bucket = mm_bucket(mm);
	struct pxt_attachment *att, *found = NULL;
	u32 seen = 0;

	spin_lock(&bucket->lock);
	hlist_for_each_entry(att, &bucket->head, mm_node) {
		if (seen++ == OTHERS_SEEN)
			break;
		if (att->mm != mm || att->pid == target->pid || READ_ONCE(att->target) ||
		    READ_ONCE(att->open))
			continue;
		found = pxt_attachment_try_ref(att);
		if (found)
			break;
	}
	spin_unlock(&bucket->lock);
	return found;
}

/**
 * pxt_attachment_found() - make the gate visible to the process of a target
 * @target: with a gate
 *
 * The memory has room for only one gate, so other processes with the same memory see a gate that is
 * open for everything, unless they have a target. Context: may sleep, for up to a second in total
 * if threads are in page faults, or until a fatal signal.
 */
void pxt_attachment_found(struct pxt_target *target)
{
	struct pxt_attachment *att;
	long patience = msecs_to_jiffies(VISIT_MS);
	u32 others = 0;

	att = find_unbound(target);
	if (att) {
		bind(att, target);
		patience = show(att, patience);
		pxt_attachment_put(att);
	}
	while (others++ < OTHERS_MAX && !fatal_signal_pending(current)) {
		att = find_other(target);
		if (!att)
			break;
		WRITE_ONCE(att->open, true);
		patience = show(att, patience);
		pxt_attachment_put(att);
	}
}

/* ------------------------------------------------------------------ */
/* New attachments							*/

/* Check if the process of a new attachment already has a target. */
static void look_for_target(struct pxt_attachment *att)
{
	struct pxt_target *target = pxt_target_find(att->pid);

	if (!target)
		return;
	/* Pairs with the release in pxt_gate_make(). */
	if (smp_load_acquire(&target->gate))
		bind(att, target);
	pxt_target_put(target);
}

/**
 * pxt_attachment_get() - get or create the attachment of the calling process
 * @inode: inode of the file it maps the gate with; a new attachment keeps it
 *
 * Context: may sleep.
 * Return: one reference, or NULL if out of memory.
 */
struct pxt_attachment *pxt_attachment_get(struct inode *inode)
{
	struct bucket *bucket = pid_bucket(task_tgid(current));
	struct pxt_attachment *att, *mine;

	spin_lock(&bucket->lock);
	att = find_mine(bucket);
	spin_unlock(&bucket->lock);
	if (att)
		return att;
	mine = attachment_new(inode);
	if (!mine)
		return NULL;
	/*
	 * Look before another thread can find the attachment: otherwise that thread might map a
	 * shut gate.
	 */
	look_for_target(mine);
	att = find_or_add(mine);
	if (att != mine) {
		pxt_attachment_put(mine);
	} else if (!pxt_attachment_bound(att)) {
		/*
		 * CREATE makes the gate before it looks for attachments. So either it finds this
		 * attachment, or it took the lock of the bucket earlier, and look_for_target() sees
		 * the gate.
		 */
		look_for_target(att);
		if (pxt_attachment_bound(att))
			show(att, msecs_to_jiffies(VISIT_MS));
	}
	return att;
}

/* ------------------------------------------------------------------ */
/* Target of a caller							*/

static struct pxt_target *make_bound(struct pxt_attachment *att, struct task_struct *task)
{
	struct pxt_target *target = pxt_target_make(task, NULL);

	if (IS_ERR(target))
		return target;
	if (pxt_gate_make(target)) {
		pxt_target_put(target);
		return ERR_PTR(-ENOMEM);
	}
	pxt_attachment_found(target);
	/*
	 * Not found if the process has executed a program and attached again. Others may still use
	 * @att, and a synchronization must reach them.
	 */
	if (!pxt_attachment_bound(att)) {
		bind(att, target);
		show(att, msecs_to_jiffies(VISIT_MS));
	}
	/*
	 * ADD may end a target that has no attachment yet. In that case, the caller retries.
	 */
	if (pxt_attachment_bound(att) || !READ_ONCE(target->ended))
		return target;
	pxt_target_put(target);
	return ERR_PTR(-ESTALE);
}

/* Make the process of an attachment a target unless it already is. */
static struct pxt_target *promote(struct pxt_attachment *att)
{
	struct task_struct *task = get_pid_task(att->pid, PIDTYPE_TGID);
	struct pxt_target *target;

	if (!task)
		return ERR_PTR(-ESRCH);
	do {
		target = make_bound(att, task);
	} while (target == ERR_PTR(-ESTALE) && !fatal_signal_pending(current));
	put_task_struct(task);
	return target == ERR_PTR(-ESTALE) ? ERR_PTR(-ESRCH) : target;
}

/* Make the calling process, which shares the memory of a target, a target with the same table. */
static struct pxt_target *join(struct pxt_target *of)
{
	struct pxt_target *target = pxt_target_born(task_tgid(current), of->table);

	if (!target)
		return ERR_PTR(-ENOMEM);
	pxt_target_note_memory(target, current);
	pxt_image_share(of->table, &target->author, &of->author);
	return target;
}

/*
 * The calling process shares the memory of the process that attached, but is not a thread of it. It
 * becomes a separate target. Returns NULL if the two became targets independently, and therefore
 * have separate event types.
 */
static struct pxt_target *acting(struct pxt_attachment *att, struct pxt_target *of, bool make)
{
	struct pxt_target *target = pxt_target_find(task_tgid(current));

	if (!target && make)
		target = join(of);
	if (IS_ERR_OR_NULL(target))
		return target;
	if (target->table != of->table) {
		pxt_target_put(target);
		return NULL;
	}
	mutex_lock(&of->table->lock);
	/*
	 * Set @shared before the caller reads its gate. Pairs with the lock in synchronize()
	 * (gate.c): either the synchronization after a change of the gate sees @shared, or the
	 * caller sees the changed gate.
	 */
	att->shared = true;
	mutex_unlock(&of->table->lock);
	return target;
}

/* Like acting(), for a process that attached but is not a target yet. */
static struct pxt_target *acting_first(struct pxt_attachment *att, bool make)
{
	struct pxt_target *target = pxt_target_find(task_tgid(current)), *of;

	if (target || !make)
		return target;
	of = promote(att);
	if (IS_ERR(of))
		return of;
	target = acting(att, of, true);
	pxt_target_put(of);
	return target;
}

/**
 * pxt_attachment_target() - get the target of the calling process
 * @att: attachment of its address space
 * @make: make it a target if necessary
 *
 * A process that shares the memory of its parent but is not a thread of it uses the file that its
 * parent has attached.
 *
 * Context: may sleep.
 * Return: a reference; NULL if the process is not a target or has another table; with @make also
 * -ENOMEM, and -ESRCH if the process that attached has ended.
 */
struct pxt_target *pxt_attachment_target(struct pxt_attachment *att, bool make)
{
	struct pxt_target *target = pxt_attachment_bound(att);

	if (att->pid != task_tgid(current))
		return target ? acting(att, target, make) : acting_first(att, make);
	if (target)
		pxt_target_ref(target);
	else if (make)
		target = promote(att);
	return target;
}
