// SPDX-License-Identifier: GPL-2.0
/*
 * The quiesce: when it returns, every writer that saw the old gate has
 * committed its record, or never will.
 *
 * A writer looks at the gate and commits inside a section that an inter-
 * processor call cannot interrupt unnoticed: a restartable sequence, which the
 * call aborts, or kernel code with interrupts off, which the call waits for.
 * So neither needs a fence. Knows nothing of streams and targets.
 */
#include <linux/preempt.h>
#include <linux/smp.h>

#include "compat.h"
#include "quiesce.h"

/* Runs with interrupts off on a CPU that may run a writer. */
static void quiesce_cpu(void *unused)
{
	pxt_rseq_abort_current();
}

/**
 * pxt_quiesce_begin() - there will be something that writers must not overlook
 * @q: to be filled with pxt_quiesce_add() and ended with pxt_quiesce_end()
 *
 * Context: may sleep.
 */
void pxt_quiesce_begin(struct pxt_quiesce *q)
{
	q->all = !zalloc_cpumask_var(&q->mask, GFP_KERNEL_ACCOUNT);
}

/**
 * pxt_quiesce_look() - what writers must not overlook has been stored
 *
 * Before the first pxt_quiesce_add().
 */
void pxt_quiesce_look(void)
{
	/*
	 * The stores to gate or heads come before the look at who runs where.
	 * Pairs with the barrier in switch_mm() between setting the CPU's bit in
	 * mm_cpumask() and the return to user mode: a CPU not seen in the mask
	 * sees the stores.
	 */
	smp_mb();
}

/**
 * pxt_quiesce_add() - reach the CPUs that run one traced process
 * @q: begun
 * @mm: its address space
 */
void pxt_quiesce_add(struct pxt_quiesce *q, struct mm_struct *mm)
{
	/* Only x86 is known to keep mm_cpumask() a superset of the truth. */
	if (!IS_ENABLED(CONFIG_X86))
		q->all = true;
	else if (!q->all)
		cpumask_or(q->mask, q->mask, mm_cpumask(mm));
}

/**
 * pxt_quiesce_end() - make the calls, wait for them
 * @q: begun; free again afterwards
 *
 * This CPU needs no call: its writers are preempted by us (their sequence
 * restarts) and none of them is in kernel code with interrupts off.
 *
 * Nor does one that is offline: all tasks had left it before it was marked so, in
 * stop_machine(). That needs every CPU, so with preemption off none can go that we
 * call. One that is marked online after we looked sees the stores: the mark, set
 * with a full barrier, comes before all that runs there, as ours in
 * pxt_quiesce_look() comes before our look. So no cpus_read_lock() is needed.
 *
 * Context: may sleep; interrupts on.
 */
void pxt_quiesce_end(struct pxt_quiesce *q)
{
	preempt_disable();
	smp_call_function_many(q->all ? cpu_online_mask : q->mask, quiesce_cpu, NULL, true);
	preempt_enable();
	free_cpumask_var(q->mask);
}
