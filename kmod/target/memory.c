// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the processes that use an address space.
 */
#include <linux/mm_types.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "target/interest.h"
#include "target/memory.h"
#include "target/target.h"
#include "target/walk.h"

/* The address space of a thread, only to be compared; NULL if the thread has released it. */
static const struct mm_struct *memory_of(const struct task_struct *thread)
{
	/* As in pxt_thread_uses(). */
	return data_race(READ_ONCE(thread->mm));
}

static bool get_memory(struct task_struct *thread, void *arg)
{
	const struct mm_struct **mm = arg;

	*mm = memory_of(thread);
	return *mm;
}

/**
 * pxt_target_note_memory() - note the address space that the first controller may see
 * @target: target of the process of @task
 * @task: any thread of a process that cannot execute a program now
 *
 * No effect if it is already noted: during an exec, a later controller must not note the next
 * address space before it is decided which streams stay. If a very large number of threads have
 * released the address space and are reaped during the walk, it stays unset, and no event contains
 * addresses.
 *
 * Context: may sleep.
 */
void pxt_target_note_memory(struct pxt_target *target, struct task_struct *task)
{
	const struct mm_struct *mm = NULL;
	u32 tries = 0;

	while (pxt_walk_threads(task, get_memory, &mm) < 0 && pxt_walk_retry(tries++))
		;
	cmpxchg(&target->mm, NULL, mm);
	pxt_interest_changed();
}

/**
 * struct users - threads of the calling process that use its address space
 * @mm: that address space
 * @last: the last thread seen by the first walk; a reference
 * @count: users among the threads up to @last
 */
struct users {
	const struct mm_struct *mm;
	struct task_struct *last;
	int count;
};

static bool note_last(struct task_struct *thread, void *arg)
{
	struct users *users = arg;

	get_task_struct(thread);
	if (users->last)
		put_task_struct(users->last);
	users->last = thread;
	return false;
}

static bool count_user(struct task_struct *thread, void *arg)
{
	struct users *users = arg;

	if (memory_of(thread) == users->mm)
		users->count++;
	return thread == users->last;
}

/*
 * Are all users of the address space threads of the caller? Returns false if this cannot be
 * determined.
 *
 * Walk the threads twice, and read mm_users in between. The second walk counts only threads up to
 * the last one of the first walk. The kernel appends new threads to the list, and a thread never
 * regains an address space that it has released, so each counted thread was a user when mm_users
 * was read.
 */
static bool only_threads_use(const struct mm_struct *mm)
{
	struct users users = { .mm = mm };
	bool only = false;
	int all;

	if (!pxt_walk_threads(current, note_last, &users)) {
		/* The kernel counts a thread in mm_users before it adds the thread to the list. */
		smp_rmb();
		all = atomic_read(&mm->mm_users);
		only = pxt_walk_threads(current, count_user, &users) > 0 && all <= users.count;
	}
	if (users.last)
		put_task_struct(users.last);
	return only;
}

/*
 * Does a process use the address space? All threads of a process that still have an address space
 * have the same one, so look at the first of them. Kernel threads only borrow an address space.
 * Returns -EAGAIN if the walk is incomplete.
 */
static int process_uses(struct task_struct *process, const struct mm_struct *mm,
			struct pxt_walk *walk)
{
	const struct mm_struct *its;
	struct task_struct *thread;

	if (process->flags & PF_KTHREAD || same_thread_group(process, current))
		return 0;
	for_each_thread(process, thread) {
		its = memory_of(thread);
		if (its)
			return its == mm;
		if (!pxt_walk_step(walk, process, thread))
			return -EAGAIN;
	}
	return 0;
}

/*
 * Does another process use the address space? Returns 1, 0, or -EAGAIN if the walk is incomplete.
 */
static int others_use(const struct mm_struct *mm)
{
	struct pxt_walk walk = { 0 };
	struct task_struct *process;
	int ret = 0;

	rcu_read_lock();
	for_each_process(process) {
		ret = process_uses(process, mm, &walk);
		if (!ret && !pxt_walk_step(&walk, process, process))
			ret = -EAGAIN;
		if (ret)
			break;
	}
	rcu_read_unlock();
	return ret;
}

/**
 * pxt_target_shares_memory() - check if another process uses the caller's address space
 *
 * This is the case after vfork() or clone(CLONE_VM).
 *
 * Context: may sleep.
 * Return: true if so, or if it cannot be determined because processes exit all the time.
 */
bool pxt_target_shares_memory(void)
{
	const struct mm_struct *mm = current->mm;
	u32 tries = 0;
	int ret;

	/*
	 * mm_users also counts users that are not processes, so search the processes. Comparing
	 * mm_users with the number of threads is not enough: that number includes threads that have
	 * left the address space, such as a main thread that exited long ago.
	 */
	if (atomic_read(&mm->mm_users) == 1 || only_threads_use(mm))
		return false;
	do {
		ret = others_use(mm);
	} while (ret < 0 && pxt_walk_retry(tries++));
	return ret;
}
