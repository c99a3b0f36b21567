/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tracepoints remember about the tasks of a CPU: looking up the streams of a task takes as
 * many instructions as recording an event.
 */
#ifndef PXT_MEMO_H
#define PXT_MEMO_H

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

#include "target/interest.h"

struct posixtrace_cpu_head;
struct pxt_recorder_cpu;
struct pxt_stream;
struct pxt_target;

/* Tasks that a CPU remembers. */
#define PXT_MEMOS	8

/**
 * struct pxt_memo - a task, and who may see its events
 * @task: the task, only to be compared
 * @start: task->start_time: the memory of a task may be used for another one
 * @id: task->pid: a thread that executes a program takes over the id of its leader
 * @generation: valid while pxt_interest_generation has this value; a grace period later, what the
 *	pointers point to may be gone
 * @stream: first stream with kernel events that traces it; NULL if there is none
 * @target: its target, with a stream
 * @mm: address space that the controllers may see addresses of, only to be compared
 * @others: slots of further streams with kernel events
 * @thread: the thread for the controller of @stream, as it is in records. On x86-64, its pthread_t
 *	may change at any time: pxt_kevent_record_irqsoff() writes it at each event
 * @wakes: its events wake readers of @stream
 * @recorder: the recorder of this CPU in @stream
 * @head: the write position of kernel events of this CPU in @stream
 * @pad: no two share a cache line, and a shift finds one
 *
 * Used by its CPU with interrupts off.
 */
struct pxt_memo {
	const struct task_struct *task;
	u64 start;
	u64 generation;
	s32 id;
	struct pxt_stream *stream;
	struct pxt_target *target;
	const void *mm;
	u32 others;
	struct posixtrace_kthread thread;
	bool wakes;
	struct pxt_recorder_cpu *recorder;
	struct posixtrace_cpu_head *head;
	u64 pad[3];
};

static_assert(sizeof(struct pxt_memo) == 128);

DECLARE_PER_CPU_ALIGNED(struct pxt_memo [PXT_MEMOS], pxt_memos);

s32 pxt_memo_pid(const struct pxt_stream *stream, struct task_struct *task);
s32 pxt_memo_tid(const struct pxt_stream *stream, struct task_struct *task);
void pxt_memo_stream(struct pxt_memo *memo, struct pxt_stream *stream, struct task_struct *task,
		     u32 cpu);
void pxt_memo_fill(struct pxt_memo *memo, struct task_struct *task, u64 generation);

/**
 * pxt_memo_of() - get what is known about a task
 * @task: of interest, see pxt_interest_in()
 *
 * Context: interrupts are off.
 * Return: the memo, valid until interrupts are on.
 */
static __always_inline struct pxt_memo *pxt_memo_of(struct task_struct *task)
{
	/* Pairs with the release in pxt_interest_changed(). */
	u64 generation = atomic64_read_acquire(&pxt_interest_generation);
	/* Threads created together have consecutive ids. */
	struct pxt_memo *memo = this_cpu_ptr(&pxt_memos[(u32)task->pid % PXT_MEMOS]);

	if (unlikely(memo->task != task || memo->generation != generation ||
		     memo->start != task->start_time || memo->id != task->pid))
		pxt_memo_fill(memo, task, generation);
	return memo;
}

#endif /* PXT_MEMO_H */
