// SPDX-License-Identifier: GPL-2.0
/*
 * Compares how long threads were blocked and runnable with the thresholds of their streams. The
 * handlers of class sched call this only for threads of a stream with thresholds.
 *
 * Since when a thread is blocked is kept in a small table by thread id, because struct task_struct
 * has no field for it. Threads created together do not compete for an entry. If two blocked threads
 * need the same one, the older time is dropped, and that wait meets no condition.
 */
#include <linux/kernel.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "kevent/memo.h"
#include "kevent/watch.h"
#include "ring/clock.h"
#include "ring/rawlock.h"
#include "ring/recorder.h"
#include "stream/stream.h"
#include "stream/trigger.h"

#define PLACES		4096

/**
 * struct place - a blocked thread
 * @lock: guards the rest; interrupts are off, scheduler locks may be held; innermost
 * @id: task->pid; 0 in an unused entry
 * @since: when it left its CPU, ns
 * @switches: how often it had left a CPU then: if the number differs, it has run since
 */
struct place {
	raw_spinlock_t lock;
	s32 id;
	u64 since;
	u64 switches;
};

static struct place places[PLACES];

static struct place *place_of(const struct task_struct *task)
{
	return &places[(u32)task->pid % PLACES];
}

static u64 switches_of(const struct task_struct *task)
{
	/* The scheduler counts with plain stores, before it calls sched_switch. */
	return data_race(READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw));
}

/**
 * pxt_watch_init() - initialize the table
 */
void pxt_watch_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		raw_spin_lock_init(&places[i].lock);
}

/**
 * pxt_watch_out() - note that a thread leaves its CPU and is blocked
 * @task: the thread
 *
 * Context: in sched_switch: interrupts are off, and the lock of a run queue is held.
 */
void pxt_watch_out(const struct task_struct *task)
{
	struct place *place = place_of(task);

	pxt_raw_lock(&place->lock);
	place->id = task->pid;
	place->since = pxt_clock_now_fast();
	place->switches = switches_of(task);
	pxt_raw_unlock(&place->lock);
}

/*
 * Since when has the thread been blocked? Returns 0 if that is unknown, or if the thread is not
 * blocked: a thread may be woken while it still runs, or while it is preempted before it could
 * leave its CPU.
 */
static u64 blocked_since(const struct task_struct *task)
{
	struct place *place = place_of(task);
	u64 since = 0;

	if (pxt_task_on_cpu(task))
		return 0;
	pxt_raw_lock(&place->lock);
	if (place->id == task->pid && place->switches == switches_of(task))
		since = place->since;
	pxt_raw_unlock(&place->lock);
	return since;
}

/*
 * Compare in one stream. A thread of the controller meets no condition: otherwise a controller that
 * waits for conditions would meet the next one by its own sleep.
 */
static void compare(const struct pxt_memo *memo, struct task_struct *task, u32 kind, u64 since,
		    u64 now)
{
	struct pxt_recorder_cpu *this_cpu = memo->by.cpu;
	struct pxt_stream *stream = memo->stream;
	const struct posixtrace_triggered by = {
		.time = now,
		.duration = now - since,
		.pid = memo->by.thread.pid,
		.tid = memo->by.thread.tid,
		.kind = kind,
	};

	/* As in write_switch_in(), an older time may belong to another thread or clock. */
	if (since <= stream->attr.creation_time || since > now ||
	    !pxt_trigger_might(&stream->trigger, kind, by.duration) ||
	    stream->owner == task_tgid(task))
		return;
	pxt_raw_lock(&this_cpu->lock);
	/* As for an event, the lock ensures that no work is queued after the end of the stream. */
	if (smp_load_acquire(memo->by.wanted) & BIT(PXT_RECORDER_WATCHED) &&
	    pxt_trigger_note(&stream->trigger, &by))
		pxt_recorder_defer(&stream->pool, BIT(PXT_RECORDER_TRIGGERED));
	pxt_raw_unlock(&this_cpu->lock);
}

/* Compare in all streams that trace the thread. */
static void compare_all(const struct pxt_memo *memo, struct task_struct *task, u32 kind, u64 since)
{
	u64 now = pxt_clock_now_fast();
	struct pxt_stream *stream;
	struct pxt_memo other;
	u32 slots;

	compare(memo, task, kind, since, now);
	for (slots = memo->others; slots; slots &= slots - 1) {
		stream = pxt_stream_in(memo->target, __ffs(slots));
		/* The slot may have a different stream by now. */
		if (!stream || !stream->pool.recorder)
			continue;
		pxt_memo_stream(&other, stream, task, smp_processor_id());
		compare(&other, task, kind, since, now);
	}
}

/**
 * pxt_watch_wakeup() - compare how long a thread was blocked
 * @memo: of the thread; one of its streams has thresholds
 * @task: the thread, not yet woken
 *
 * Context: in sched_waking: interrupts are off, and the lock of the task is held.
 */
void pxt_watch_wakeup(const struct pxt_memo *memo, struct task_struct *task)
{
	u64 since = blocked_since(task);

	if (since)
		compare_all(memo, task, POSIXTRACE_TRIGGER_BLOCKED, since);
}

/**
 * pxt_watch_in() - compare how long a thread was runnable without running
 * @memo: of the thread; one of its streams has thresholds
 * @task: the thread, which gets a CPU
 * @since: from pxt_runnable_end()
 *
 * Context: in sched_switch: interrupts are off, and the lock of a run queue is held.
 */
void pxt_watch_in(const struct pxt_memo *memo, struct task_struct *task, u64 since)
{
	if (since)
		compare_all(memo, task, POSIXTRACE_TRIGGER_RUNNABLE, since);
}
