// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that share a thread pointer, as after a raw clone() without CLONE_SETTLS.
 *
 * They share the thread data of the C library, and with it the area of restartable
 * sequences, which the kernel serves for one of them only. The sequences of the others would
 * not be aborted, whichever CPU they run on. So in a process with such threads, the module
 * writes all records.
 */
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "compat.h"
#include "target/target.h"

/* An ending thread may have handed its thread pointer to a new one already: look again. */
#define LOOKS	3

/*
 * Zero is no thread's. If a thread has changed its pointer without a system call and runs now,
 * this returns the old value.
 */
static unsigned long thread_pointer(const struct task_struct *task)
{
#if defined(CONFIG_X86_64)
	return task == current ? x86_fsbase_read_cpu() : task->thread.fsbase;
#elif defined(CONFIG_ARM64)
	return task == current ? read_sysreg(tpidr_el0) : task->thread.uw.tp_value;
#else
	/* The library has no sequences. */
	return 0;
#endif
}

/**
 * pxt_thread_id() - the pthread_t of a thread, if its thread pointer tells
 * @task: current, or not running in user mode
 *
 * On x86-64, glibc and musl use the thread pointer. Elsewhere it depends on the C library.
 *
 * Return: the pthread_t, or 0.
 */
u64 pxt_thread_id(const struct task_struct *task)
{
	return IS_ENABLED(CONFIG_X86_64) ? thread_pointer(task) : 0;
}

/**
 * pxt_twins_born() - does a new thread share the thread pointer of its creator?
 * @target: of the calling process; PXT_TARGET_TWINS is set
 * @child: a thread of the process that has not run yet
 *
 * The creator is in this system call, so it is in no sequence. Context: any.
 *
 * Return: yes or no.
 */
bool pxt_twins_born(struct pxt_target *target, const struct task_struct *child)
{
	unsigned long pointer = thread_pointer(child);

	if (!pointer || pointer != thread_pointer(current))
		return false;
	set_bit(PXT_TARGET_TWINS, &target->works);
	return true;
}

static int compare(const void *first, const void *second)
{
	unsigned long a = *(const unsigned long *)first, b = *(const unsigned long *)second;

	return a < b ? -1 : a > b;
}

/* Kernel threads of a process have a copy of the thread pointer, but do not record. */
static bool may_record(const struct task_struct *thread)
{
	return !(READ_ONCE(thread->flags) & (PXT_PF_KERNEL | PF_EXITING));
}

static u32 collect(unsigned long *pointers, u32 room)
{
	const struct task_struct *thread;
	u32 count = 0;

	rcu_read_lock();
	for_each_thread(current, thread) {
		/* More threads are being born: the tracepoint notices them. */
		if (count == room)
			break;
		pointers[count] = thread_pointer(thread);
		if (pointers[count] && may_record(thread))
			count++;
	}
	rcu_read_unlock();
	return count;
}

static bool look(unsigned long *pointers, u32 room)
{
	u32 count = collect(pointers, room), i;

	sort(pointers, count, sizeof(*pointers), compare, NULL);
	for (i = 1; i < count; i++) {
		if (pointers[i] == pointers[i - 1])
			return true;
	}
	return false;
}

/* 1, 0, or -ENOMEM. */
static int twins_exist(void)
{
	u32 room = get_nr_threads(current);
	unsigned long *pointers;
	bool found = true;
	int i;

	if (room < 2)
		return 0;
	pointers = kvmalloc_array(room, sizeof(*pointers), GFP_KERNEL_ACCOUNT);
	if (!pointers)
		return -ENOMEM;
	for (i = 0; found && i < LOOKS; i++) {
		found = look(pointers, room);
		cond_resched();
	}
	kvfree(pointers);
	return found;
}

/**
 * pxt_twins_look() - look for threads that were born before the process was a target
 * @target: of the calling process; PXT_TARGET_TWINS is set if some share a thread pointer
 *
 * Does nothing the second time. Context: may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int pxt_twins_look(struct pxt_target *target)
{
	int found;

	if (test_bit(PXT_TARGET_LOOKED, &target->works))
		return 0;
	/* Pairs with the barrier in pxt_fork_noticed(): this finds the thread, or it the target. */
	smp_mb();
	found = twins_exist();
	if (found < 0)
		return found;
	if (found)
		set_bit(PXT_TARGET_TWINS, &target->works);
	/* Sets PXT_TARGET_TWINS before LOOKED. Pairs with the read barrier in sync_slots(). */
	smp_mb__before_atomic();
	set_bit(PXT_TARGET_LOOKED, &target->works);
	return 0;
}
