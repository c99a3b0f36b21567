/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the streams that trace a thread, and records what their controllers may know. Inline, so
 * that the handler of each tracepoint is one function from the lookup to the commit: a call would
 * take a tenth of the time of an event.
 *
 * All of this runs inside tracepoints, even in the scheduler with a run queue lock held, and in
 * interrupts. It therefore takes only raw locks, and neither allocates nor wakes tasks. An irq_work
 * does the deferred work, and a work item does the part that may sleep.
 */
#ifndef PXT_KEVENT_RECORD_H
#define PXT_KEVENT_RECORD_H

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
	u64 time;	/* time of the event */
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
bool pxt_kevent_might_trace(const struct pxt_stream *stream);

/*
 * A controller may know threads of the process that the event concerns, its own threads, threads
 * that its stream traces and, with pxt_kevent.current_other, the current thread if the controller
 * might trace its process.
 */
static __always_inline bool pxt_kevent_may_know(const struct pxt_stream *stream,
						const struct pxt_kevent *event,
						struct task_struct *task,
						struct task_struct *other)
{
	return event->trusted || task_tgid(other) == task_tgid(task) ||
	       task_tgid(other) == stream->owner ||
	       (pxt_interest_in(other) && pxt_kevent_known(stream, other)) ||
	       (event->current_other && pxt_kevent_might_trace(stream));
}

/* Called under RCU, with interrupts off. @thread_id: of the thread in @memo. */
static __always_inline void pxt_kevent_into(const struct pxt_memo *memo, u64 thread_id,
					    const struct pxt_kevent *event,
					    struct task_struct *task, struct task_struct *other,
					    const void *data, pxt_kencode encode)
{
	const struct pxt_recorder_thread *by = &memo->by;
	const u64 *wanted = by->wanted;
	struct pxt_recorder_cpu *this_cpu = by->cpu;
	struct pxt_stream *stream = memo->stream;
	struct pxt_krecord record PXT_UNINITIALIZED;
	struct pxt_kdata to PXT_UNINITIALIZED;

	/*
	 * This check is only a hint, repeated below with the lock. Here and in the recorder,
	 * data_race() without READ_ONCE() lets the compiler compare in memory.
	 */
	if (!(data_race(*wanted) & BIT_ULL(event->id)))
		return;
	if (other && !pxt_kevent_may_know(stream, event, task, other))
		other = NULL;
	pxt_raw_lock(&this_cpu->lock);
	/*
	 * Pairs with the release in pxt_recorder_want(): if the event is wanted, the clock is read
	 * after START.
	 */
	if (likely(smp_load_acquire(wanted) & BIT_ULL(event->id)) &&
	    likely(pxt_recorder_begin(&record, this_cpu, by, thread_id, event->id, event->class,
				      event->words, &to.end))) {
		to.time = record.time;
		to.value = 0;
		to.flags = 0;
		encode(&to, data, stream, other);
		pxt_recorder_commit(&record, this_cpu, by, event->class, to.end,
				    to.flags << POSIXTRACE_KHEAD_FLAGS_SHIFT |
				    to.value << POSIXTRACE_KHEAD_VALUE_SHIFT);
	}
	pxt_raw_unlock(&this_cpu->lock);
}

/* Does the stream want all of these event types? */
static __always_inline bool pxt_kevent_wants(const struct pxt_memo *memo, u64 types)
{
	/* Only a hint, as in pxt_kevent_into(). */
	return (data_race(*memo->by.wanted) & types) == types;
}

/**
 * pxt_kevent_both() - record two events of a thread and class with one time, and one commit
 * @memo: the thread and its first stream
 * @thread_id: pthread_t of the thread
 * @first: event type of the event that comes first; constant
 * @first_data: for @encode_first, which gets no other thread
 * @encode_first: writes its data; constant
 * @event: the other event type; constant
 * @task: the thread
 * @other: another thread that is part of the other event, or NULL
 * @data: for @encode
 * @encode: writes its data; constant
 *
 * Two separate calls would take another lock, clock and barrier.
 *
 * The caller should check pxt_kevent_wants() first. Context: as pxt_kevent_record().
 * Return: true if both events were handled; false if the stream does not request both types, and
 * nothing was recorded.
 */
static __always_inline bool
pxt_kevent_both(const struct pxt_memo *memo, u64 thread_id, const struct pxt_kevent *first,
		const void *first_data, pxt_kencode encode_first, const struct pxt_kevent *event,
		struct task_struct *task, struct task_struct *other, const void *data,
		pxt_kencode encode)
{
	const struct pxt_recorder_thread *by = &memo->by;
	const u64 both = BIT_ULL(first->id) | BIT_ULL(event->id);
	struct pxt_recorder_cpu *this_cpu = by->cpu;
	struct pxt_krecord record PXT_UNINITIALIZED;
	struct pxt_kdata to PXT_UNINITIALIZED;
	bool wanted;

	if (other && !pxt_kevent_may_know(memo->stream, event, task, other))
		other = NULL;
	pxt_raw_lock(&this_cpu->lock);
	/* As in pxt_kevent_into(). */
	wanted = (smp_load_acquire(by->wanted) & both) == both;
	if (likely(wanted) &&
	    likely(pxt_recorder_begin(&record, this_cpu, by, thread_id, first->id, first->class,
				      first->words + 1 + event->words, &to.end))) {
		to.time = record.time;
		to.value = 0;
		to.flags = 0;
		encode_first(&to, first_data, memo->stream, NULL);
		pxt_recorder_then(&record, this_cpu, by, event->id, event->class, &to.end,
				  to.flags << POSIXTRACE_KHEAD_FLAGS_SHIFT |
				  to.value << POSIXTRACE_KHEAD_VALUE_SHIFT);
		to.value = 0;
		to.flags = 0;
		encode(&to, data, memo->stream, other);
		pxt_recorder_commit(&record, this_cpu, by, event->class, to.end,
				    to.flags << POSIXTRACE_KHEAD_FLAGS_SHIFT |
				    to.value << POSIXTRACE_KHEAD_VALUE_SHIFT);
	} else if (wanted) {
		/* pxt_recorder_begin() has counted @first as dropped; count @event as well. */
		pxt_recorder_drop(this_cpu, by->head, event->class);
	}
	pxt_raw_unlock(&this_cpu->lock);
	return wanted;
}

void pxt_kevent_others(const struct pxt_memo *memo, const struct pxt_kevent *event,
		       struct task_struct *task, struct task_struct *other, const void *data,
		       pxt_kencode encode);

/*
 * Define a function that records an event into all streams that trace @task except the first one.
 * The function gets a copy of the data, so that the data for the first stream stays in registers.
 */
#define PXT_KEVENT_OTHERS(name, type, event, encode)					\
static noinline __cold void name(const struct pxt_memo *memo, struct task_struct *task,	\
				 struct task_struct *other, type data)			\
{											\
	pxt_kevent_others(memo, event, task, other, &data, encode);			\
}

/**
 * pxt_kevent_record() - record a kernel event into the first stream that traces a thread
 * @event: event type; constant
 * @task: the thread that the event concerns
 * @other: another thread that is part of the event, or NULL
 * @data: for @encode
 * @encode: writes the data; constant
 *
 * If pxt_memo.more is set in the result, the caller must record the event into the other streams:
 * see PXT_KEVENT_OTHERS().
 *
 * Events of the controller itself do not wake its readers: the sleep of a reader causes such an
 * event, which would end the sleep immediately.
 *
 * The tracepoint should check pxt_interest_in() first. Context: in a tracepoint, not in NMI;
 * interrupts are off, so this is also an RCU section; scheduler locks may be held.
 *
 * Return: what is known about the thread, valid until interrupts are on; NULL if the event contains
 * addresses that no controller may see.
 */
static __always_inline const struct pxt_memo *
pxt_kevent_record(const struct pxt_kevent *event, struct task_struct *task,
		  struct task_struct *other, const void *data, pxt_kencode encode)
{
	const struct pxt_memo *memo = pxt_memo_of(task);

	/*
	 * Has the tracing permission been checked for the program in this address space? During
	 * exec, the kernel writes to the new address space before it announces the new program.
	 */
	if (event->memory && unlikely(!pxt_thread_uses(task, memo->mm)))
		return NULL;
	pxt_kevent_into(memo, event->own ? pxt_own_thread_id() : pxt_thread_id(task), event, task,
			other, data, encode);
	return memo;
}

void pxt_kevent_record_plain(const struct pxt_kevent *event, struct task_struct *task,
			     struct task_struct *other, void *data, u32 len);

#endif /* PXT_KEVENT_RECORD_H */
