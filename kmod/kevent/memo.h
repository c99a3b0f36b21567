/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tracepoints remember about the tasks of a CPU. Without it, they would have to look up the
 * streams of a task, which takes as many instructions as recording an event.
 */
#ifndef PXT_MEMO_H
#define PXT_MEMO_H

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

#include "ring/recorder.h"
#include "stream/stream.h"
#include "target/interest.h"

struct pxt_target;

/* Number of tasks that each CPU remembers. */
#define PXT_MEMOS	8

/**
 * struct pxt_memo - a task, and who may see its events
 * @start: task->start_time
 * @id: task->pid. With @start, it identifies the thread: a pointer would not, because the struct of
 *	an ended thread is reused. When another thread than the leader executes a program, it takes
 *	over both from the leader: the memo remains valid, because its other members are the same
 *	for all threads of a process
 * @generation: the memo is valid while pxt_interest_generation has this value. After a change, the
 *	objects that the memo points to may be freed after a grace period
 * @stream: first stream with kernel events that traces it; NULL if there is none
 * @target: its target, with a stream
 * @mm: address space that the controllers may see addresses of, only to be compared
 * @others: slots of further streams with kernel events
 * @by: how to record the events of the thread into @stream; without a stream, no event is wanted
 * @more: @others is not 0; gcc 12 compares a byte in one instruction, a word in two
 * @same_ids: pxt_memo_same_ids() of @stream
 * @watched: one of the streams has thresholds: see watch.c
 *
 * The size is a power of two, so no two entries share a cache line, and a shift finds an entry.
 * Used by its CPU with interrupts off.
 */
struct pxt_memo {
	u64 start;
	u64 generation;
	s32 id;
	u32 others;
	struct pxt_stream *stream;
	struct pxt_recorder_thread by;
	struct pxt_target *target;
	const void *mm;
	bool more;
	bool same_ids;
	bool watched;
};

static_assert(sizeof(struct pxt_memo) == 128);

DECLARE_PER_CPU_ALIGNED(struct pxt_memo [PXT_MEMOS], pxt_memos);

void pxt_memo_stream(struct pxt_memo *memo, struct pxt_stream *stream, struct task_struct *task,
		     u32 cpu);
void pxt_memo_fill(struct pxt_memo *memo, struct task_struct *task, u64 generation) __cold;

/**
 * pxt_memo_pid() - get the process id of a task for a controller
 * @stream: stream of the controller
 * @task: the task
 *
 * A reaped thread has no ids in its namespace at its last context switch; task->tgid remains valid.
 *
 * Return: the id; 0 if the controller sees none.
 */
static __always_inline s32 pxt_memo_pid(const struct pxt_stream *stream, struct task_struct *task)
{
	return likely(stream->ns == &init_pid_ns) ? task->tgid :
						    task_tgid_nr_ns(task, stream->ns);
}

/**
 * pxt_memo_tid() - get the thread id of a task for a controller
 * @stream: stream of the controller
 * @task: the task
 *
 * Return: as pxt_memo_pid().
 */
static __always_inline s32 pxt_memo_tid(const struct pxt_stream *stream, struct task_struct *task)
{
	return likely(stream->ns == &init_pid_ns) ? task->pid : task_pid_nr_ns(task, stream->ns);
}

/* Does the task see the same ids as the controller of a stream? False once it has been reaped. */
static inline bool pxt_memo_same_ids(const struct pxt_stream *stream, struct task_struct *task)
{
	return task_active_pid_ns(task) == stream->ns;
}

/**
 * pxt_memo_of() - get what is known about a task
 * @task: a task of interest, see pxt_interest_in()
 *
 * Context: interrupts are off.
 * Return: the memo, valid until interrupts are on.
 */
static __always_inline struct pxt_memo *pxt_memo_of(struct task_struct *task)
{
	/* Pairs with the release in pxt_interest_changed(). */
	u64 generation = atomic64_read_acquire(&pxt_interest_generation);
	/* Threads created together have consecutive ids, so they do not compete for an entry. */
	struct pxt_memo *memo = this_cpu_ptr(&pxt_memos[(u32)task->pid % PXT_MEMOS]);

	if (unlikely(memo->id != task->pid || memo->generation != generation ||
		     memo->start != task->start_time))
		pxt_memo_fill(memo, task, generation);
	return memo;
}

#endif /* PXT_MEMO_H */
