// SPDX-License-Identifier: GPL-2.0
/*
 * Looks up the streams that trace a task.
 */
#include "kevent/memo.h"
#include "ring/recorder.h"
#include "target/targets.h"

DEFINE_PER_CPU_ALIGNED(struct pxt_memo [PXT_MEMOS], pxt_memos);

/* Return the first stream with kernel events in these slots. Removes the slots up to it. */
static struct pxt_stream *next_stream(const struct pxt_target *target, u32 *slots)
{
	struct pxt_stream *stream = NULL;

	while (!stream && *slots) {
		stream = pxt_stream_in(target, __ffs(*slots));
		/* The slot may have a different stream by now, without kernel events. */
		if (stream && !stream->pool.recorder)
			stream = NULL;
		*slots &= *slots - 1;
	}
	return stream;
}

/* Has a stream in these slots thresholds? */
static bool is_watched(const struct pxt_target *target, u32 slots)
{
	const struct pxt_stream *stream;

	for (; slots; slots &= slots - 1) {
		stream = pxt_stream_in(target, __ffs(slots));
		if (stream && READ_ONCE(stream->link.watched))
			return true;
	}
	return false;
}

/**
 * pxt_memo_stream() - fill in what depends on the stream
 * @memo: result
 * @stream: with kernel events; traces @task
 * @task: the task
 * @cpu: this CPU
 *
 * Context: interrupts are off.
 */
void pxt_memo_stream(struct pxt_memo *memo, struct pxt_stream *stream, struct task_struct *task,
		     u32 cpu)
{
	memo->stream = stream;
	memo->same_ids = pxt_memo_same_ids(stream, task);
	pxt_recorder_use(&memo->by, &stream->pool, cpu, pxt_memo_pid(stream, task),
			 pxt_memo_tid(stream, task), stream->owner != task_tgid(task));
}

/**
 * pxt_memo_fill() - look up a task
 * @memo: result
 * @task: the task
 * @generation: pxt_interest_generation before the lookup
 *
 * Context: interrupts are off.
 */
void pxt_memo_fill(struct pxt_memo *memo, struct task_struct *task, u64 generation)
{
	struct pxt_target *target = pxt_target_lookup(task_tgid(task));
	struct pxt_stream *stream = NULL;
	u32 slots = 0;

	/* A hidden process may have gained privileges: its controllers must not see its events. */
	if (target && !test_bit(PXT_TARGET_HIDDEN, &target->works))
		slots = READ_ONCE(target->kernel_slots);
	if (slots)
		stream = next_stream(target, &slots);
	memo->start = task->start_time;
	memo->id = task->pid;
	memo->generation = generation;
	memo->stream = stream;
	memo->target = target;
	memo->others = slots;
	memo->more = slots;
	memo->watched = stream && (READ_ONCE(stream->link.watched) || is_watched(target, slots));
	memo->by.wanted = &pxt_recorder_nothing;
	if (!stream)
		return;
	memo->mm = READ_ONCE(target->mm);
	pxt_memo_stream(memo, stream, task, smp_processor_id());
}
