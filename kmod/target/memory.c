// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes use an address space.
 */
#include <linux/mm_types.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "target/memory.h"
#include "target/target.h"
#include "target/walk.h"

/* The address space of a thread, only to be compared; NULL if the thread has given it up. */
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
 * pxt_target_note_memory() - note the address space that the first controller may know
 * @target: of the process of @task
 * @task: any thread of a process that cannot execute a program now
 *
 * Later ones find it noted: while the process executes a program, they must not note the next one
 * before it was decided which streams stay. If very many threads have given up the address space,
 * and are reaped during the walk, nothing is noted, and no event tells addresses.
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
}

/**
 * struct users - threads of the calling process that use its address space
 * @mm: that address space
 * @last: the last thread that the first walk saw; a reference
 * @count: of those up to @last
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
 * Are all users of the address space threads of the caller? False if that cannot be said.
 *
 * The kernel adds new threads at the end of the list, and no thread takes up an address space that
 * it has given up. So each thread up to the last one of the first walk that has it in the second
 * walk was a user when mm_users was read, in between.
 */
static bool only_threads_use(const struct mm_struct *mm)
{
	struct users users = { .mm = mm };
	bool only = false;
	int all;

	if (!pxt_walk_threads(current, note_last, &users)) {
		/* The threads were counted before they were in the list. */
		smp_rmb();
		all = atomic_read(&mm->mm_users);
		only = pxt_walk_threads(current, count_user, &users) > 0 && all <= users.count;
	}
	if (users.last)
		put_task_struct(users.last);
	return only;
}

/*
 * Does a process use the address space? All of its threads that have not given up theirs have the
 * same one. Returns -EAGAIN if the walk was cut short. Kernel threads borrow one now and then.
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

/* Does another process use the address space? 1, 0, or -EAGAIN if the walk was cut short. */
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
 * pxt_target_shares_memory() - does another process use the address space of the caller?
 *
 * It does after vfork() or clone(CLONE_VM).
 *
 * Context: may sleep.
 * Return: yes or no; also yes if it cannot be said, as processes end all the time.
 */
bool pxt_target_shares_memory(void)
{
	const struct mm_struct *mm = current->mm;
	u32 tries = 0;
	int ret;

	/*
	 * More users need not be processes: look for them. The number of threads does not tell, it
	 * includes those that have left the address space, as a main thread may have long ago.
	 */
	if (atomic_read(&mm->mm_users) == 1 || only_threads_use(mm))
		return false;
	do {
		ret = others_use(mm);
	} while (ret < 0 && pxt_walk_retry(tries++));
	return ret;
}
