// SPDX-License-Identifier: GPL-2.0
/*
 * The synchronization: on return, every writer that saw the old gate has committed its record or
 * never will.
 *
 * A writer reads the gate and commits within one section: a restartable sequence, which an
 * inter-processor call aborts, or kernel code with interrupts off, which the call waits for.
 * Writers therefore need no fence. This file does not know streams or targets.
 *
 * Only CPUs that run a thread of a traced process get the call, if the module can find them.
 * Documentation/locking.rst ("Which CPUs get the call") proves that checking the threads is
 * sufficient.
 */
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "compat.h"
#include "target/memory.h"
#include "target/synchronize.h"
#include "target/target.h"
#include "target/walk.h"

/* Maximum number of looks. If threads still move after that, the process runs on many CPUs. */
#define LOOKS_MAX	4

/**
 * struct thread_look - the result of one look at all threads of a process
 * @last: the last thread, a reference, or NULL; the kernel adds new threads after it
 * @threads: number of threads
 * @users: threads that use the address space
 * @before: sum of their context switches, read before checking if they run
 * @after: sum of their context switches, read after that
 */
struct thread_look {
	struct task_struct *last;
	int threads;
	int users;
	u64 before;
	u64 after;
};

/* Runs with interrupts off on a CPU that may be running a writer. */
static void synchronize_cpu(void *unused)
{
	pxt_rseq_abort_current();
}

/**
 * pxt_synchronize_begin() - start a synchronization
 * @q: to be filled in by pxt_synchronize_add() and ended by pxt_synchronize_end()
 *
 * Context: may sleep.
 */
void pxt_synchronize_begin(struct pxt_synchronize *q)
{
	/* Not charged to a cgroup: the caller must not wait, because it holds a lock. */
	q->all = !zalloc_cpumask_var(&q->mask, GFP_KERNEL);
	q->strangers = q->all;
}

/**
 * pxt_synchronize_look() - order the caller's stores before the check of the threads
 *
 * Call it after the stores that writers must not miss and before pxt_synchronize_add().
 */
void pxt_synchronize_look(void)
{
	/*
	 * Order the stores to the gate or the heads before checking which threads run. Pairs with
	 * the scheduler's barrier for membarrier(), between task->on_cpu = 1, or the CPU's bit in
	 * mm_cpumask(), and the return to user mode; and with the barrier in try_record(). A thread
	 * that is not seen running sees the stores.
	 */
	smp_mb();
}

/* Number of times a thread has left a CPU. The kernel counts before task->on_cpu becomes 0. */
static u64 times_left(const struct task_struct *thread)
{
	return (u64)READ_ONCE(thread->nvcsw) + READ_ONCE(thread->nivcsw);
}

static void look_at_thread(struct thread_look *look, struct task_struct *thread,
			   const struct mm_struct *mm, struct cpumask *mask)
{
	look->threads++;
	look->before += times_left(thread);
	/* Pairs with the scheduler's full barrier between on_cpu = 1 and the count. */
	smp_rmb();
	if (pxt_task_on_cpu(thread))
		cpumask_set_cpu(task_cpu(thread), mask);
	if (pxt_thread_uses(thread, mm))
		look->users++;
	/* Pairs with the release of on_cpu = 0 in the scheduler, after it has counted. */
	smp_rmb();
	look->after += times_left(thread);
}

/*
 * Fill in @look, which holds no reference yet. Returns false if the walk is incomplete. The
 * reference keeps the task_struct of the last thread from being reused for another thread between
 * two looks.
 */
static bool look_at_threads(struct thread_look *look, struct task_struct *process,
			    const struct mm_struct *mm, struct cpumask *mask)
{
	struct task_struct *thread, *last = NULL;
	struct pxt_walk walk = { 0 };
	bool whole = true;

	*look = (struct thread_look){ .last = NULL };
	rcu_read_lock();
	for_each_thread(process, thread) {
		look_at_thread(look, thread, mm, mask);
		whole = pxt_walk_step(&walk, process, thread);
		if (!whole)
			break;
		last = thread;
	}
	/* Valid: this is still the RCU section in which pxt_walk_step() found it in the list. */
	if (whole && last)
		look->last = get_task_struct(last);
	rcu_read_unlock();
	return whole;
}

static void look_end(struct thread_look *look)
{
	if (look->last)
		put_task_struct(look->last);
	look->last = NULL;
}

/* Did both looks find the same threads, without any leaving a CPU since the first look? */
static bool nothing_moved(const struct thread_look *first, const struct thread_look *second)
{
	return second->last == first->last && second->threads == first->threads &&
	       second->after == first->before;
}

/*
 * Look again after @first. Returns 1 if no thread has moved and no other process can use this
 * address space, 0 if another process might, -EAGAIN if a thread has moved, -EINTR if the walk is
 * incomplete.
 */
static int look_again(const struct thread_look *first, struct thread_look *second,
		      struct task_struct *process, const struct mm_struct *mm,
		      struct cpumask *mask)
{
	int users;

	/*
	 * Read mm_users between the looks: every thread that both looks found with this address
	 * space was a user at that time. Pairs with the full barrier of mmput(): if a user is gone
	 * from the count, the second look sees the thread that now runs on its CPU.
	 */
	smp_rmb();
	users = atomic_read(&mm->mm_users);
	/* Also pairs with the full barrier of mmput(). */
	smp_rmb();
	if (!look_at_threads(second, process, mm, mask))
		return -EINTR;
	if (!nothing_moved(first, second))
		return -EAGAIN;
	return users <= second->users;
}

/*
 * Add the CPUs that run threads of a process. Returns false if the threads keep moving, or if
 * another process may use this address space.
 */
static bool add_threads(struct cpumask *mask, struct task_struct *process,
			const struct mm_struct *mm)
{
	struct thread_look first, second;
	int i, ret = -EAGAIN;

	if (!look_at_threads(&second, process, mm, mask))
		return false;
	for (i = 0; i < LOOKS_MAX && ret == -EAGAIN; i++) {
		first = second;
		ret = look_again(&first, &second, process, mm, mask);
		look_end(&first);
	}
	look_end(&second);
	return ret > 0;
}

/* Add the CPUs that run a process. Returns false if they cannot be determined. */
static bool add_process(struct cpumask *mask, struct pid *pid, const struct mm_struct *mm)
{
	struct task_struct *process = get_pid_task(pid, PIDTYPE_TGID);
	bool found;

	/* After it was reaped, only other processes may still use its address space. */
	if (!process)
		return !atomic_read(&mm->mm_users);
	found = add_threads(mask, process, mm);
	put_task_struct(process);
	return found;
}

/**
 * pxt_synchronize_add() - add the CPUs that run one traced process
 * @q: from pxt_synchronize_begin()
 * @pid: pid of its thread group
 * @mm: its address space; other processes may use it as well
 *
 * Context: may sleep.
 */
void pxt_synchronize_add(struct pxt_synchronize *q, struct pid *pid, struct mm_struct *mm)
{
	if (q->all || add_process(q->mask, pid, mm))
		return;
	q->strangers = true;
	/* Only on x86 is mm_cpumask() known to include all CPUs that use an address space. */
	if (!IS_ENABLED(CONFIG_X86))
		q->all = true;
	else
		cpumask_or(q->mask, q->mask, mm_cpumask(mm));
}

/**
 * pxt_synchronize_cancel() - end a synchronization without making the calls
 * @q: from pxt_synchronize_begin(); freed
 */
void pxt_synchronize_cancel(struct pxt_synchronize *q)
{
	free_cpumask_var(q->mask);
}

/**
 * pxt_synchronize_end() - make the calls and wait for them
 * @q: from pxt_synchronize_begin(); freed
 *
 * This CPU needs no call: the caller has preempted its writers, so their sequences restart, and no
 * writer is in kernel code with interrupts off. If the caller is a thread of the process and has
 * migrated since pxt_synchronize_add() checked the threads, its CPU at that time is in the mask.
 *
 * An offline CPU needs no call: all tasks had left it before stop_machine() marked it offline.
 * stop_machine() needs every CPU, so with preemption off here, no CPU being called can go offline.
 * A CPU that is marked online after that check sees the stores: the mark is set with a full barrier
 * before anything runs there, and the barrier in pxt_synchronize_look() precedes the check. This
 * makes cpus_read_lock() unnecessary.
 *
 * Context: may sleep; interrupts on.
 */
void pxt_synchronize_end(struct pxt_synchronize *q)
{
	preempt_disable();
	smp_call_function_many(q->all ? cpu_online_mask : q->mask, synchronize_cpu, NULL, true);
	preempt_enable();
	free_cpumask_var(q->mask);
}
