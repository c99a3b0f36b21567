// SPDX-License-Identifier: GPL-2.0
/*
 * The synchronization: when it returns, every writer that saw the old gate has
 * committed its record, or never will.
 *
 * A writer looks at the gate and commits inside a section that an inter-
 * processor call cannot interrupt unnoticed: a restartable sequence, which the
 * call aborts, or kernel code with interrupts off, which the call waits for.
 * So neither needs a fence. Knows nothing of streams and targets.
 *
 * Only CPUs that run a thread of a traced process get the call. Why it is enough to
 * look at the threads is proved in Documentation/locking.rst ("Which CPUs get the call").
 */
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "compat.h"
#include "target/synchronize.h"

/* A look is made under RCU, in one go: it takes some 10 us for so many threads. */
#define THREADS_MAX	256

/* A process whose threads change places that often while we look runs on many CPUs. */
#define LOOKS_MAX	4

/**
 * struct look - what one look at all threads of a process has found
 * @last: the one at the end, where new ones are added
 * @threads: how many
 * @users: how many of them use the address space
 * @before: sum of how often they gave up a CPU, read before we saw whether they run
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
 * pxt_synchronize_begin() - there will be something that writers must not overlook
 * @q: to be filled with pxt_synchronize_add() and ended with pxt_synchronize_end()
 *
 * Context: may sleep.
 */
void pxt_synchronize_begin(struct pxt_synchronize *q)
{
	q->all = !zalloc_cpumask_var(&q->mask, GFP_KERNEL_ACCOUNT);
}

/**
 * pxt_synchronize_look() - what writers must not overlook has been stored
 *
 * Before the first pxt_synchronize_add().
 */
void pxt_synchronize_look(void)
{
	/*
	 * The stores to gate or heads come before the look at which thread runs.
	 * Pairs with the barrier that the scheduler has, for membarrier(), between
	 * task->on_cpu = 1, or the CPU's bit in mm_cpumask(), and the return to user
	 * mode; and with the one in try_record(). A thread that is not seen running
	 * sees the stores.
	 */
	smp_mb();
}

/* It grows each time the thread leaves a CPU, before task->on_cpu is 0. */
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
		/* Pairs with the release of on_cpu = 0 in the scheduler: it leaves, then stops. */
		smp_rmb();
		if (pxt_task_on_cpu(thread))
			cpumask_set_cpu(task_cpu(thread), mask);
		if (READ_ONCE(thread->mm) == mm)
			look->users++;
		/* Pairs with the same: what it does is seen, then how often it has left. */
		smp_rmb();
		look->after += times_left(thread);
	}
	return true;
}

/* The same threads, and none of them has left a CPU since the first look saw it. */
static bool nothing_moved(const struct look *first, const struct look *second)
{
	return second->last == first->last && second->threads == first->threads &&
	       second->after == first->before;
}

/*
 * Adds the CPUs on which threads of a process run. False if they do not hold still, or
 * if there may be others with this address space, whose threads we do not know. Under RCU:
 * a struct task_struct that we have seen is not used again for another thread.
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
		 * Between the looks: each thread that both of them found with this address
		 * space was a user then. Pairs with the full barrier of mmput(): if we miss
		 * a user that has gone, we see on which CPU it was followed by a thread.
		 */
		smp_rmb();
		users = atomic_read(&mm->mm_users);
		/* Pairs with the same. */
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
 * @mm: its address space, which other processes may have, too
 */
void pxt_synchronize_add(struct pxt_synchronize *q, struct pid *pid, struct mm_struct *mm)
{
	struct task_struct *process;
	bool found;

	if (q->all)
		return;
	rcu_read_lock();
	process = pid_task(pid, PIDTYPE_TGID);
	/* If it was reaped, only another process may still have its address space. */
	found = process ? add_threads(q->mask, process, mm) : !atomic_read(&mm->mm_users);
	rcu_read_unlock();
	if (found)
		return;
	/* Only x86 is known to keep mm_cpumask() a superset of the truth. */
	if (!IS_ENABLED(CONFIG_X86))
		q->all = true;
	else
		cpumask_or(q->mask, q->mask, mm_cpumask(mm));
}

/**
 * pxt_synchronize_end() - make the calls, wait for them
 * @q: begun; free again afterwards
 *
 * This CPU needs no call: its writers are preempted by us (their sequence
 * restarts) and none of them is in kernel code with interrupts off. The one that we
 * looked from, if it was another, is in the mask when we are a thread of the process.
 *
 * Nor does one that is offline: all tasks had left it before it was marked so, in
 * stop_machine(). That needs every CPU, so with preemption off none can go that we
 * call. One that is marked online after we looked sees the stores: the mark, set
 * with a full barrier, comes before all that runs there, as ours in
 * pxt_synchronize_look() comes before our look. So no cpus_read_lock() is needed.
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
