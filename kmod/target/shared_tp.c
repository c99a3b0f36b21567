// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that share a thread pointer, as after a raw clone() without CLONE_SETTLS.
 *
 * They share the thread data of the C library, and with it the area of restartable sequences, which
 * the kernel serves for only one of them. Sequences of the other threads would not be aborted,
 * whichever CPU they run on. In a process with such threads, the module therefore writes all
 * records.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "target/shared_tp.h"
#include "target/target.h"
#include "target/walk.h"

/* An exiting thread may have handed its thread pointer to a new thread, so look several times. */
#define LOOKS	3

#ifdef CONFIG_X86_64
/* The thread pointer of the current thread on a CPU without RDFSBASE. */
unsigned long pxt_thread_pointer_msr(void)
{
	return x86_fsbase_read_cpu();
}
#endif

/**
 * pxt_shared_tp_born() - check if a new thread shares the thread pointer of its creator
 * @target: target of the calling process; sets PXT_TARGET_SHARED_TP
 * @child: a thread of the process that has not run yet
 *
 * The creator is in a system call, so it is not in a sequence. Context: any.
 *
 * Return: true if so.
 */
bool pxt_shared_tp_born(struct pxt_target *target, const struct task_struct *child)
{
	unsigned long pointer = pxt_thread_pointer(child);

	if (!pointer || pointer != pxt_thread_pointer(current))
		return false;
	set_bit(PXT_TARGET_SHARED_TP, &target->works);
	return true;
}

static int compare(const void *first, const void *second)
{
	unsigned long a = *(const unsigned long *)first, b = *(const unsigned long *)second;

	/* Sorting a large number takes long. */
	cond_resched();
	return a < b ? -1 : a > b;
}

/* Kernel threads of a process have a copy of the thread pointer, but do not record. */
static bool may_record(const struct task_struct *thread)
{
	return !(READ_ONCE(thread->flags) & (PXT_PF_KERNEL | PF_EXITING));
}

/**
 * struct pointers - thread pointers of a process
 * @pointers: pointers of threads that may record
 * @room: size of @pointers
 * @count: number of entries
 */
struct pointers {
	unsigned long *pointers;
	u32 room;
	u32 count;
};

static bool collect(struct task_struct *thread, void *arg)
{
	struct pointers *to = arg;
	unsigned long pointer = pxt_thread_pointer(thread);

	/*
	 * Threads created since @to was allocated get no entry. pxt_shared_tp_born() checks them in
	 * the tracepoint.
	 */
	if (to->count == to->room)
		return true;
	if (pointer && may_record(thread))
		to->pointers[to->count++] = pointer;
	return false;
}

/* Threads that exit all the time can prevent an answer: then assume that some share a pointer. */
static bool look(struct pointers *to)
{
	u32 tries = 0, i;
	int ret;

	do {
		to->count = 0;
		ret = pxt_walk_threads(current, collect, to);
	} while (ret < 0 && pxt_walk_retry(tries++));
	if (ret < 0)
		return true;
	sort(to->pointers, to->count, sizeof(*to->pointers), compare, NULL);
	for (i = 1; i < to->count; i++) {
		if (to->pointers[i] == to->pointers[i - 1])
			return true;
	}
	return false;
}

/* Returns 1, 0, or -ENOMEM. */
static int some_share(void)
{
	struct pointers to = { .room = get_nr_threads(current) };
	bool found = true;
	int i;

	if (to.room < 2)
		return 0;
	to.pointers = kvmalloc_array(to.room, sizeof(*to.pointers), GFP_KERNEL_ACCOUNT);
	if (!to.pointers)
		return -ENOMEM;
	for (i = 0; found && i < LOOKS; i++)
		found = look(&to);
	kvfree(to.pointers);
	return found;
}

/**
 * pxt_shared_tp_look() - check threads older than the target for a shared thread pointer
 * @target: target of the calling process; sets PXT_TARGET_SHARED_TP if any threads share one
 *
 * Has no effect the second time. Context: may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int pxt_shared_tp_look(struct pxt_target *target)
{
	int found;

	if (test_bit(PXT_TARGET_LOOKED, &target->works))
		return 0;
	/*
	 * Pairs with the barrier in pxt_fork_noticed(): either this function finds the new thread,
	 * or the fork finds the target.
	 */
	smp_mb();
	found = some_share();
	if (found < 0)
		return found;
	if (found)
		set_bit(PXT_TARGET_SHARED_TP, &target->works);
	/* Set PXT_TARGET_SHARED_TP before LOOKED. Pairs with the read barrier in sync_slots(). */
	smp_mb__before_atomic();
	set_bit(PXT_TARGET_LOOKED, &target->works);
	return 0;
}
