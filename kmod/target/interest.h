/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_INTEREST_H
#define PXT_INTEREST_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/threads.h>

/*
 * By process id in the initial namespace: does a stream with kernel events trace the process?
 * gate.c changes it with the lock of a table; tracepoints read it without a lock.
 */
extern unsigned long pxt_interest[BITS_TO_LONGS(PID_MAX_LIMIT)];

/*
 * Changes whenever a process gets or loses a stream with kernel events, and whenever its
 * controllers may see more or less of the process, or start to compare its times with thresholds. A
 * struct pxt_memo of a task is valid for only one value.
 */
extern atomic64_t pxt_interest_generation;

/*
 * Does a stream with kernel events trace this task? Called twice per context switch of the machine,
 * at three instructions each, whatever is traced. A task keeps its tgid across exec and after it
 * was reaped.
 */
static inline bool pxt_interest_in(const struct task_struct *task)
{
	return test_bit(task->tgid, pxt_interest);
}

/*
 * Call after the change. Pairs with the acquire in pxt_memo_of(): a tracepoint that reads the new
 * generation also sees the change.
 */
static inline void pxt_interest_changed(void)
{
	atomic64_inc_return_release(&pxt_interest_generation);
}

void pxt_interest_begin(struct pid *pid);
void pxt_interest_end(struct pid *pid);

#endif /* PXT_INTEREST_H */
