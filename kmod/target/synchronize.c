// SPDX-License-Identifier: GPL-2.0
/*
 * The synchronization: when it returns, every writer that saw the old gate has committed its
 * record, or never will.
 *
 * A writer looks at the gate and commits within one section: a restartable sequence, which
 * an inter-processor call aborts, or kernel code with interrupts off, which the call waits
 * for. So writers need no fence. This file knows no streams and no targets.
 *
 * Only CPUs that run a thread of a traced process get the call. Documentation/locking.rst
 * ("Which CPUs get the call") proves that looking at the threads is enough.
 */
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "compat.h"
#include "target/synchronize.h"
#include "target/target.h"

/* One look at so many threads takes some 10 us, under RCU and without a break. */
#define THREADS_MAX	256

/* A process whose threads move during that many looks runs on many CPUs. */
#define LOOKS_MAX	4

/**
 * struct look - the result of one look at all threads of a process
 * @last: the last thread; new ones are added behind it
 * @threads: how many
 * @users: how many of them use the address space
 * @before: sum of how often they left a CPU, read before the look whether they run
 * @after: the same, read after that
 */
struct look {
	const struct task_struct *last;
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
	q->all = !zalloc_cpumask_var(&q->mask, GFP_KERNEL_ACCOUNT);
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

/* Under RCU. False if there are too many of them. */
static bool look_at_threads(struct look *look, struct task_struct *process,
			    const struct mm_struct *mm, struct cpumask *mask)
{
	struct task_struct *thread;

	*look = (struct look){ .threads = 0 };
	for_each_thread(process, thread) {
		if (++look->threads > THREADS_MAX)
			return false;
		look->last = thread;
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
	return true;
}

/* Did both looks find the same threads, and has none left a CPU since the first look? */
static bool nothing_moved(const struct look *first, const struct look *second)
{
	return second->last == first->last && second->threads == first->threads &&
	       second->after == first->before;
}

/*
 * Adds the CPUs on which threads of a process run. False if they do not hold still, or if
 * another process may use this address space. Under RCU, so that no struct task_struct is used
 * again for another thread between the looks.
 */
static bool add_threads(struct cpumask *mask, struct task_struct *process,
			const struct mm_struct *mm)
{
	struct look first, second;
	int i, users;

	if (!look_at_threads(&second, process, mm, mask))
		return false;
	for (i = 0; i < LOOKS_MAX; i++) {
		first = second;
		/*
		 * Read mm_users between the looks: each thread that both found with this
		 * address space was a user then. Pairs with the full barrier of mmput(): if
		 * a user is gone from the count, the second look sees the thread that runs on
		 * its CPU now.
		 */
		smp_rmb();
		users = atomic_read(&mm->mm_users);
		/* Pairs with the full barrier of mmput(), too. */
		smp_rmb();
		if (!look_at_threads(&second, process, mm, mask))
			return false;
		if (nothing_moved(&first, &second))
			return users <= second.users;
	}
	return false;
}

/**
 * pxt_synchronize_add() - reach the CPUs that run one traced process
 * @q: begun
 * @pid: of its thread group
 * @mm: its address space, which other processes may use, too
 */
void pxt_synchronize_add(struct pxt_synchronize *q, struct pid *pid, struct mm_struct *mm)
{
	struct task_struct *process;
	bool found;

	if (q->all)
		return;
	rcu_read_lock();
	process = pid_task(pid, PIDTYPE_TGID);
	/* If it was reaped, only other processes may still use its address space. */
	found = process ? add_threads(q->mask, process, mm) : !atomic_read(&mm->mm_users);
	rcu_read_unlock();
	if (found)
		return;
	/* Only on x86 mm_cpumask() is known to have all CPUs that use an address space. */
	if (!IS_ENABLED(CONFIG_X86))
		q->all = true;
	else
		cpumask_or(q->mask, q->mask, mm_cpumask(mm));
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
