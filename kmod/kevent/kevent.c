// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events: their deferred work, and what the handlers of tracepoints share. record.h has the
 * common path.
 */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "kevent/record.h"
#include "log/log.h"
#include "ring/wake.h"
#include "stream/state.h"
#include "target/logwakers.h"
#include "target/rights.h"
#include "target/targets.h"

/* Does the deferred work that may sleep: the stream becomes full, or its log is flushed. */
static void kernel_work(struct work_struct *work)
{
	struct pxt_stream *stream = container_of(work, struct pxt_stream, kernel_work);

	mutex_lock(&stream->lock);
	if (!stream->dead) {
		pxt_state_kernel_full(stream);
		if (stream->log)
			pxt_log_used(stream->log);
	}
	mutex_unlock(&stream->lock);
}

/* Runs without the locks that tracepoints hold. Interrupts may be off, except on PREEMPT_RT. */
static void kernel_irq(struct irq_work *work)
{
	struct pxt_stream *stream = container_of(work, struct pxt_stream, kernel_irq);
	unsigned long todo = atomic_long_xchg(&stream->kernel_todo, 0);

	if (todo & BIT(PXT_RECORDER_WAKE))
		pxt_wake(&stream->pool);
	if (todo & BIT(PXT_RECORDER_TRIGGERED))
		pxt_trigger_wake(&stream->trigger);
	if (todo & BIT(PXT_RECORDER_CLOSED))
		pxt_wake_filled(&stream->pool);
	if (todo & BIT(PXT_RECORDER_FULL) || (todo & BIT(PXT_RECORDER_CLOSED) && stream->log))
		queue_work(system_unbound_wq, &stream->kernel_work);
}

/**
 * pxt_kevent_init() - prepare a stream for kernel events
 * @stream: new, with its memory
 */
void pxt_kevent_init(struct pxt_stream *stream)
{
	init_irq_work(&stream->kernel_irq, kernel_irq);
	INIT_WORK(&stream->kernel_work, kernel_work);
	atomic_long_set(&stream->kernel_todo, 0);
	if (stream->pool.recorder) {
		stream->pool.recorder->todo = &stream->kernel_todo;
		stream->pool.recorder->irq = &stream->kernel_irq;
		stream->pool.recorder->reports = stream->pool.wake.bytes;
	}
}

/**
 * pxt_kevent_end() - wait for the deferred work of kernel events
 * @stream: dead and not locked: pxt_gate_unlink() has waited for the last record
 *
 * Tracepoints no longer queue the irq_work, and once that has ended, it no longer queues the work
 * item. Context: may sleep.
 */
void pxt_kevent_end(struct pxt_stream *stream)
{
	if (!stream->link.kernel_types)
		return;
	irq_work_sync(&stream->kernel_irq);
	cancel_work_sync(&stream->kernel_work);
}

/* The target of a task, if the controllers may see its activity. Called under RCU. */
static struct pxt_target *target_of(struct task_struct *task, bool hidden)
{
	struct pxt_target *target = pxt_target_lookup(task_tgid(task));

	if (!target || (!hidden && test_bit(PXT_TARGET_HIDDEN, &target->works)))
		return NULL;
	return target;
}

/**
 * pxt_kevent_known() - check if a stream traces another thread, so that its controller may know it
 * @stream: found under RCU
 * @task: the thread
 *
 * Threads that are not known are recorded as anonymous; their permissions are not checked.
 *
 * Context: under RCU.
 * Return: true if it does.
 */
bool pxt_kevent_known(const struct pxt_stream *stream, struct task_struct *task)
{
	const struct pxt_target *target = target_of(task, false);

	return target && rcu_access_pointer(target->slot[stream->link.slot]) == &stream->link;
}

/**
 * pxt_kevent_might_trace() - check if the controller of a stream might trace the current process
 * @stream: found under RCU
 *
 * If so, an event names the current thread, and its name goes into the log of the stream.
 *
 * This is decided for each event, from the state of the process at that time. An exec or a change
 * of credentials therefore takes effect with the next event.
 *
 * Context: under RCU; scheduler locks may be held.
 * Return: true if so.
 */
bool pxt_kevent_might_trace(const struct pxt_stream *stream)
{
	if (!pxt_rights_name(stream->owner, stream->cred, stream->power))
		return false;
	if (stream->link.logwakers)
		pxt_logwakers_note(stream->link.logwakers, stream->ns);
	return true;
}

/* Record a kernel event into the streams in some slots. Called under RCU, with interrupts off. */
static void record_slots(u32 slots, const struct pxt_target *target, const struct pxt_kevent *event,
			 struct task_struct *task, struct task_struct *other, const void *data,
			 pxt_kencode encode)
{
	u32 cpu = smp_processor_id();
	struct pxt_stream *stream;
	struct pxt_memo memo;

	for (; slots; slots &= slots - 1) {
		/*
		 * The slot may have a different stream by now, which drops the events that it does
		 * not want.
		 */
		stream = pxt_stream_in(target, __ffs(slots));
		if (!stream || !stream->pool.recorder)
			continue;
		pxt_memo_stream(&memo, stream, task, cpu);
		pxt_kevent_into(&memo, pxt_thread_id(task), event, task, other, data, encode);
	}
}

/**
 * pxt_kevent_others() - record a kernel event into all streams but the first one
 * @memo: what is known about @task
 * @event: event type
 * @task: the thread that the event concerns
 * @other: another thread that is part of the event, or NULL
 * @data: for @encode
 * @encode: writes the data
 *
 * Context: under RCU, with interrupts off.
 */
void pxt_kevent_others(const struct pxt_memo *memo, const struct pxt_kevent *event,
		       struct task_struct *task, struct task_struct *other, const void *data,
		       pxt_kencode encode)
{
	record_slots(memo->others, memo->target, event, task, other, data, encode);
}

/* Data in the layout that the description of its event type gives. */
struct plain {
	const struct pxt_kevent *event;
	void *data;
	u32 len;
};

static void write_plain(struct pxt_kdata *to, const void *data, const struct pxt_stream *stream,
			struct task_struct *other)
{
	const struct plain *plain = data;
	u32 len = plain->len - sizeof(s32), words = DIV_ROUND_UP(len, sizeof(*to->end));

	if (plain->event->fill)
		plain->event->fill(plain->data, stream, other);
	/* Clear the padding. */
	if (words)
		to->end[words - 1] = 0;
	memcpy(to->end, plain->data + sizeof(s32), len);
	to->end += words;
	to->value = words * sizeof(*to->end) - len;
	to->flags |= POSIXTRACE_KFLAG_PLAIN;
}

static void record_known(const struct pxt_kevent *event, struct task_struct *task,
			 struct task_struct *other, const struct plain *plain)
{
	const struct pxt_memo *memo = pxt_kevent_record(event, task, other, plain, write_plain);

	if (memo && memo->more)
		pxt_kevent_others(memo, event, task, other, plain, write_plain);
}

static void record_hidden(const struct pxt_kevent *event, struct task_struct *task,
			  struct task_struct *other, const struct plain *plain)
{
	const struct pxt_target *target = target_of(task, true);

	if (target)
		record_slots(READ_ONCE(target->kernel_slots), target, event, task, other, plain,
			     write_plain);
}

/**
 * pxt_kevent_record_plain() - record a kernel event in the layout of its description
 * @event: event type
 * @task: the thread that the event concerns
 * @other: another thread that is part of the event, or NULL
 * @data: starts with an s32 for the thread id; modified for each stream
 * @len: bytes of @data
 *
 * The tracepoint should check pxt_interest_in() first. Context: as pxt_kevent_record(), but
 * interrupts may be on.
 */
void pxt_kevent_record_plain(const struct pxt_kevent *event, struct task_struct *task,
			     struct task_struct *other, void *data, u32 len)
{
	struct plain plain = { .event = event, .data = data, .len = len };
	unsigned long flags;

	local_irq_save(flags);
	if (event->hidden)
		record_hidden(event, task, other, &plain);
	else
		record_known(event, task, other, &plain);
	local_irq_restore(flags);
}
