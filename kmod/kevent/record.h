/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the streams that trace a thread, and records what their controllers may know. Inline, so
 * that the handler of each tracepoint is one function from the lookup to the commit: a call costs a
 * tenth of an event.
 *
 * All of this runs inside tracepoints, even in the scheduler with a run queue lock held, and in
 * interrupts: only raw locks, no allocation, no wake-up. An irq_work does the deferred work, and a
 * work item does the part that may sleep.
 */
#ifndef PXT_KEVENT_RECORD_H
#define PXT_KEVENT_RECORD_H

#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/smp.h>

#include "compat.h"
#include "kevent/kevent.h"
#include "kevent/memo.h"
#include "ring/recorder.h"
#include "stream/stream.h"
#include "target/interest.h"
#include "target/memory.h"
#include "target/shared_tp.h"

/* The data of an event that is being written. */
struct pxt_kdata {
	u64 *end;	/* where it ends */
	u64 time;	/* of the event */
	u32 value;	/* see POSIXTRACE_KHEAD_VALUE */
	u32 flags;	/* POSIXTRACE_KFLAG_* */
};

/*
 * Writes the data of an event at pxt_kdata.end. @other is another thread that is part of the event;
 * NULL if there is none or the controller must not know it.
 */
typedef void (*pxt_kencode)(struct pxt_kdata *to, const void *data,
			    const struct pxt_stream *stream, struct task_struct *other);

bool pxt_kevent_known(const struct pxt_stream *stream, struct task_struct *task);

/* Without tracing them, a controller may know only its own threads. */
static __always_inline bool pxt_kevent_may_know(const struct pxt_stream *stream,
						const struct pxt_kevent *event,
						struct task_struct *task,
						struct task_struct *other)
{
	return event->trusted || task_tgid(other) == task_tgid(task) ||
	       task_tgid(other) == stream->owner ||
	       (pxt_interest_in(other) && pxt_kevent_known(stream, other));
}

/* Called under RCU, with interrupts off. */
static __always_inline void pxt_kevent_into(const struct pxt_memo *memo,
					    const struct pxt_kevent *event,
					    struct task_struct *task, struct task_struct *other,
					    const void *data, pxt_kencode encode)
{
	struct pxt_stream *stream = memo->stream;
	struct pxt_recorder *recorder = stream->pool.recorder;
	struct pxt_recorder_cpu *this_cpu = memo->recorder;
	struct pxt_krecord record PXT_UNINITIALIZED;
	struct pxt_kdata to PXT_UNINITIALIZED;

	/* Only a hint: checked again below. */
	if (!(READ_ONCE(recorder->wanted) & BIT_ULL(event->id)))
		return;
	if (other && !pxt_kevent_may_know(stream, event, task, other))
		other = NULL;
	pxt_raw_lock(&this_cpu->lock);
	/* Pairs with the release in pxt_recorder_want(): the clock is past START. */
	if (unlikely(!(smp_load_acquire(&recorder->wanted) & BIT_ULL(event->id))))
		goto unlock;
	to.end = pxt_recorder_begin(&record, &stream->pool, this_cpu, event->id, event->class,
				    event->words, &memo->thread);
	if (likely(to.end)) {
		to.time = record.time;
		to.value = 0;
		to.flags = 0;
		encode(&to, data, stream, other);
		pxt_recorder_commit(&record, this_cpu, memo->head, event->class, to.end,
				    to.flags << POSIXTRACE_KHEAD_FLAGS_SHIFT |
				    to.value << POSIXTRACE_KHEAD_VALUE_SHIFT);
		/* Interrupts wake no readers: each wake-up and its timer is one. */
		if (event->class != const_ilog2(POSIXTRACE_CLASS_IRQ) && memo->wakes &&
		    READ_ONCE(stream->pool.wake.need_wakeup))
			record.todo |= BIT(PXT_RECORDER_WAKE);
	}
	if (unlikely(record.todo))
		pxt_recorder_defer(&stream->pool, record.todo);
unlock:
	pxt_raw_unlock(&this_cpu->lock);
}

void pxt_kevent_others(u32 slots, const struct pxt_target *target, const struct pxt_kevent *event,
		       struct task_struct *task, struct task_struct *other, const void *data,
		       pxt_kencode encode);

/**
 * pxt_kevent_record_irqsoff() - record a kernel event into all streams that want it
 * @event: event type; constant
 * @task: the thread that the event concerns
 * @other: another thread that is part of the event, or NULL
 * @data: for @encode
 * @encode: writes the data; constant
 *
 * Events of the controller itself do not wake its readers: each sleep of a reader causes such an
 * event, and would end immediately.
 *
 * The tracepoint should check pxt_interest_in() first. Context: in a tracepoint, not in NMI;
 * interrupts are off, so this is also an RCU section; scheduler locks may be held.
 *
 * Return: false if no stream with kernel events traces the thread.
 */
static __always_inline bool pxt_kevent_record_irqsoff(const struct pxt_kevent *event,
						      struct task_struct *task,
						      struct task_struct *other,
						      const void *data, pxt_kencode encode)
{
	struct pxt_memo *memo = pxt_memo_of(task);
	bool traced;

	/*
	 * Has the tracing permission been checked for the program in this address space? During
	 * exec, the kernel writes to the new address space before it announces the new program.
	 */
	traced = memo->stream && (!event->memory || pxt_thread_uses(task, memo->mm));
	if (likely(traced)) {
		memo->thread.thread_id = event->own ? pxt_own_thread_id() : pxt_thread_id(task);
		pxt_kevent_into(memo, event, task, other, data, encode);
		if (unlikely(memo->others))
			pxt_kevent_others(memo->others, memo->target, event, task, other, data,
					  encode);
	}
	return traced;
}

/* The same; interrupts may be on. */
static __always_inline bool pxt_kevent_record(const struct pxt_kevent *event,
					      struct task_struct *task, struct task_struct *other,
					      const void *data, pxt_kencode encode)
{
	unsigned long flags;
	bool traced;

	local_irq_save(flags);
	traced = pxt_kevent_record_irqsoff(event, task, other, data, encode);
	local_irq_restore(flags);
	return traced;
}

bool pxt_kevent_record_plain(const struct pxt_kevent *event, struct task_struct *task,
			     struct task_struct *other, void *data, u32 len);

#endif /* PXT_KEVENT_RECORD_H */
