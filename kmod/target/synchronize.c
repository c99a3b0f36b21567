// SPDX-License-Identifier: GPL-2.0
/*
 * The synchronization: when it returns, every writer that saw the old gate has committed its
 * record, or never will.
 *
 * A writer looks at the gate and commits within one section: a restartable sequence, which
 * an inter-processor call aborts, or kernel code with interrupts off, which the call waits
 * for. So writers need no fence. This file knows no streams and no targets.
 *
 * Only CPUs that run a thread of a traced process get the call, if the module can find them.
 * Documentation/locking.rst ("Which CPUs get the call") proves that looking at the threads is
 * enough.
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

/* A process whose threads move during that many looks runs on many CPUs. */
#define LOOKS_MAX	4

/**
 * struct look - the result of one look at all threads of a process
 * @last: the last thread, a reference, or NULL; the kernel adds new ones after it
 * @threads: how many
 * @users: how many of them use the address space
 * @before: sum of how often they left a CPU, read before the look whether they run
 * @after: the same, read after that
 */
struct look {
	struct task_struct *last;
	int threads;
	int users;
	u64 before;
	u64 after;
};

/* Runs with interrupts off on a CPU that may run a writer. */
static void synchronize_cpu(void *unused)
{
	pxt_rseq_abort_current();
}

/**
 * pxt_synchronize_begin() - begin a synchronization
 * @q: to be filled with pxt_synchronize_add() and ended with pxt_synchronize_end()
 *
 * Context: may sleep.
 */
void pxt_synchronize_begin(struct pxt_synchronize *q)
{
	/* Not charged: the caller holds a lock that others need, and frees the mask soon. */
	q->all = !zalloc_cpumask_var(&q->mask, GFP_KERNEL);
	q->strangers = q->all;
}

/**
 * pxt_synchronize_look() - order the caller's stores before the look at the threads
 *
 * Call it after the stores that writers must not overlook, before pxt_synchronize_add().
 */
void pxt_synchronize_look(void)
{
	/*
	 * The stores to gate or heads come before the look which threads run. Pairs with the
	 * scheduler's barrier for membarrier(), between task->on_cpu = 1, or the CPU's bit in
	 * mm_cpumask(), and the return to user mode; and with the barrier in try_record(). A
	 * thread that is not seen running sees the stores.
	 */
	smp_mb();
}

/* How often a thread has left a CPU: counted before task->on_cpu becomes 0. */
static u64 times_left(const struct task_struct *thread)
{
	return (u64)READ_ONCE(thread->nvcsw) + READ_ONCE(thread->nivcsw);
}

static void look_at_thread(struct look *look, struct task_struct *thread,
			   const struct mm_struct *mm, struct cpumask *mask)
{
	look->threads++;
	look->before += times_left(thread);
	/* Pairs with the release of on_cpu = 0 in the scheduler, after it has counted. */
	smp_rmb();
	if (pxt_task_on_cpu(thread))
		cpumask_set_cpu(task_cpu(thread), mask);
	if (pxt_thread_uses(thread, mm))
		look->users++;
	/* Pairs with the same: read its state, then how often it has left a CPU. */
	smp_rmb();
	look->after += times_left(thread);
}

/*
 * Fills in @look, which has no reference. False if the look was cut short. The reference keeps the
 * struct task_struct of the last thread from being used for another one between two looks.
 */
static bool look_at_threads(struct look *look, struct task_struct *process,
			    const struct mm_struct *mm, struct cpumask *mask)
{
	struct task_struct *thread, *last = NULL;
	struct pxt_walk walk = { 0 };
	bool whole = true;

	*look = (struct look){ .last = NULL };
	rcu_read_lock();
	for_each_thread(process, thread) {
		look_at_thread(look, thread, mm, mask);
		whole = pxt_walk_step(&walk, process, thread);
		if (!whole)
			break;
		last = thread;
	}
	/* RCU was not left since pxt_walk_step() found it in the list. */
	if (whole && last)
		look->last = get_task_struct(last);
	rcu_read_unlock();
	return whole;
}

static void look_end(struct look *look)
{
	if (look->last)
		put_task_struct(look->last);
	look->last = NULL;
}

/* Did both looks find the same threads, and has none left a CPU since the first look? */
static bool nothing_moved(const struct look *first, const struct look *second)
{
	return second->last == first->last && second->threads == first->threads &&
	       second->after == first->before;
}

/*
 * One more look after @first. Returns 1 if nothing has moved and no other process may use this
 * address space, 0 if one may, -EAGAIN if something has moved, -EINTR if the look was cut short.
 */
static int look_again(const struct look *first, struct look *second, struct task_struct *process,
		      const struct mm_struct *mm, struct cpumask *mask)
{
	int users;

	/*
	 * Read mm_users between the looks: each thread that both found with this address space
	 * was a user then. Pairs with the full barrier of mmput(): if a user is gone from the
	 * count, the second look sees the thread that runs on its CPU now.
	 */
	smp_rmb();
	users = atomic_read(&mm->mm_users);
	/* Pairs with the full barrier of mmput(), too. */
	smp_rmb();
	if (!look_at_threads(second, process, mm, mask))
		return -EINTR;
	if (!nothing_moved(first, second))
		return -EAGAIN;
	return users <= second->users;
}

/*
 * Adds the CPUs on which threads of a process run. False if they do not hold still, or if
 * another process may use this address space.
 */
static bool add_threads(struct cpumask *mask, struct task_struct *process,
			const struct mm_struct *mm)
{
	struct look first, second;
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

/* The CPUs that run a process; false if they cannot be said. */
static bool add_process(struct cpumask *mask, struct pid *pid, const struct mm_struct *mm)
{
	struct task_struct *process = get_pid_task(pid, PIDTYPE_TGID);
	bool found;

	/* If it was reaped, only other processes may still use its address space. */
	if (!process)
		return !atomic_read(&mm->mm_users);
	found = add_threads(mask, process, mm);
	put_task_struct(process);
	return found;
}

/**
 * pxt_synchronize_add() - reach the CPUs that run one traced process
 * @q: begun
 * @pid: of its thread group
 * @mm: its address space, which other processes may use, too
 *
 * Context: may sleep.
 */
void pxt_synchronize_add(struct pxt_synchronize *q, struct pid *pid, struct mm_struct *mm)
{
	if (q->all || add_process(q->mask, pid, mm))
		return;
	q->strangers = true;
	/* Only on x86 mm_cpumask() is known to have all CPUs that use an address space. */
	if (!IS_ENABLED(CONFIG_X86))
		q->all = true;
	else
		cpumask_or(q->mask, q->mask, mm_cpumask(mm));
}

/**
 * pxt_synchronize_cancel() - end a synchronization without making the calls
 * @q: begun; freed
 */
void pxt_synchronize_cancel(struct pxt_synchronize *q)
{
	free_cpumask_var(q->mask);
}

/**
 * pxt_synchronize_end() - make the calls, and wait for them
 * @q: begun; freed
 *
 * This CPU needs no call: the caller has preempted its writers, so their sequences restart,
 * and none of them is in kernel code with interrupts off. If the caller has moved since the
 * look, and is a thread of the process, the CPU it looked from is in the mask.
 *
 * An offline CPU needs no call: all tasks had left it before stop_machine() marked it
 * offline. stop_machine() needs every CPU, so while preemption is off here, no CPU that is
 * called can go offline. A CPU that is marked online after the look sees the stores: the
 * mark, set with a full barrier, comes before all that runs there, as the barrier in
 * pxt_synchronize_look() comes before the look. So no cpus_read_lock() is needed.
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
