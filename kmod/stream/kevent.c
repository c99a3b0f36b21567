// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the kernel: finds the streams that trace a thread, and records into them what their
 * controllers may know. The tracepoints are in kmod/probe/, the writing in ring/recorder.c.
 *
 * All of this runs inside tracepoints, also in the scheduler with the lock of a run queue, and in
 * interrupts: no lock but raw ones, no allocation, no wake-up. What has to follow is done by an
 * irq_work, and by a work item where it may sleep.
 */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/log2.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/workqueue.h>

#include "ring/recorder.h"
#include "ring/subbuf.h"
#include "ring/wake.h"
#include "stream/kevent.h"
#include "stream/log.h"
#include "stream/state.h"
#include "stream/stream.h"
#include "target/interest.h"

/* May sleep: the stream becomes full, or its log is flushed. */
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

/* Outside of the locks that tracepoints are called with. Interrupts may be off; not on RT. */
static void kernel_irq(struct irq_work *work)
{
	struct pxt_stream *stream = container_of(work, struct pxt_stream, kernel_irq);
	unsigned long todo = atomic_long_xchg(&stream->kernel_todo, 0);

	if (todo & BIT(PXT_RECORDER_WAKE))
		pxt_wake(&stream->pool);
	if (todo & BIT(PXT_RECORDER_CLOSED))
		pxt_wake_filled(&stream->pool);
	if (todo & BIT(PXT_RECORDER_FULL) || (todo & BIT(PXT_RECORDER_CLOSED) && stream->log))
		queue_work(system_unbound_wq, &stream->kernel_work);
}

/**
 * pxt_kevent_init() - prepare a stream for events of the kernel
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
	}
}

/**
 * pxt_kevent_end() - wait for what follows events of the kernel
 * @stream: dead, and not locked: pxt_gate_unlink() has waited for the last record
 *
 * No tracepoint queues the irq_work any more, so no irq_work queues the work item when it has
 * ended. Context: may sleep.
 */
void pxt_kevent_end(struct pxt_stream *stream)
{
	if (!stream->link.kernel_types)
		return;
	irq_work_sync(&stream->kernel_irq);
	cancel_work_sync(&stream->kernel_work);
}

/*
 * Events of the controller about itself wake none of its readers: each sleep of a reader is such an
 * event, and would end at once. Interrupts wake none: each wake-up and its timer is one.
 */
static bool wakes(const struct pxt_stream *stream, const struct pxt_kevent *event)
{
	return stream->owner != task_tgid(event->task) &&
	       event->class != const_ilog2(POSIXTRACE_CLASS_IRQ);
}

/* What has to follow an event, if the recorder says so. */
static unsigned long follow_mask(const struct pxt_stream *stream, const struct pxt_kevent *event)
{
	unsigned long mask = BIT(PXT_RECORDER_FULL);

	if (wakes(stream, event))
		mask |= BIT(PXT_RECORDER_WAKE);
	if (stream->pool.wake_bytes || stream->log)
		mask |= BIT(PXT_RECORDER_CLOSED);
	return mask;
}

/* The target of a task, if it has streams with events of the kernel. Under RCU. */
static struct pxt_target *target_of(struct task_struct *task, bool hidden)
{
	struct pxt_target *target;

	if (!pxt_interest_in(task))
		return NULL;
	target = pxt_target_lookup(task_tgid(task));
	if (!target || (!hidden && test_bit(PXT_TARGET_HIDDEN, &target->works)))
		return NULL;
	return target;
}

/*
 * May the controller know which thread this is? Of those that it need not trace to know them: its
 * own ones. All others are just another thread, whatever its rights: they are not checked here.
 */
static bool is_known(const struct pxt_stream *stream, struct task_struct *task)
{
	const struct pxt_target *target;

	if (task_tgid(task) == stream->owner)
		return true;
	target = target_of(task, false);
	return target && rcu_access_pointer(target->slot[stream->link.slot]) == &stream->link;
}

static struct task_struct *known_other(const struct pxt_stream *stream,
				       const struct pxt_kevent *event)
{
	struct task_struct *other = event->other;

	if (event->trusted || !other || task_tgid(other) == task_tgid(event->task) ||
	    is_known(stream, other))
		return other;
	return NULL;
}

/*
 * The ids of the thread for the controller. A thread that has been reaped has none in a namespace
 * any more when it leaves its CPU for the last time, but it still knows those in the initial one.
 * Not to look for them there saves an eighth of an event.
 */
static pid_t tid_of(struct task_struct *task, struct pid_namespace *ns)
{
	return ns == &init_pid_ns ? task->pid : task_pid_nr_ns(task, ns);
}

static pid_t pid_of(struct task_struct *task, struct pid_namespace *ns)
{
	return ns == &init_pid_ns ? task->tgid : task_tgid_nr_ns(task, ns);
}

/* Under RCU. */
static void record_into(struct pxt_stream *stream, struct pxt_kevent *event)
{
	struct task_struct *task = event->task;
	struct pxt_entry entry = {
		.writer = {
			.pid = pid_of(task, stream->ns),
			.tid = tid_of(task, stream->ns),
			.thread_id = pxt_thread_id(task),
		},
		.record = {
			.data_len = event->len,
			.type = POSIXTRACE_RECORD_TYPE(event->id, 0),
		},
	};

	*(s32 *)event->data = entry.writer.tid;
	if (event->fill)
		event->fill(event->data, stream, known_other(stream, event));
	pxt_recorder_record(&stream->pool, event->class, &entry, event->data,
			    follow_mask(stream, event));
}

/* Under RCU. */
static void record_all(const struct pxt_target *target, struct pxt_kevent *event)
{
	u32 mask = READ_ONCE(target->kernel_slots);
	struct pxt_stream *stream;

	for (; mask; mask &= mask - 1) {
		stream = pxt_stream_in(target, __ffs(mask));
		/* The slot may have another stream by now. A hint: the recorder looks again. */
		if (stream && stream->pool.recorder &&
		    READ_ONCE(stream->pool.recorder->wanted) & BIT_ULL(event->id))
			record_into(stream, event);
	}
}

/**
 * pxt_kevent_record() - record an event of the kernel into all streams that want it
 * @event: complete
 *
 * Context: in a tracepoint; locks of the scheduler may be held.
 *
 * Return: false if no stream with events of the kernel traces the thread.
 */
bool pxt_kevent_record(struct pxt_kevent *event)
{
	const struct pxt_target *target;

	rcu_read_lock();
	target = target_of(event->task, event->hidden);
	if (target)
		record_all(target, event);
	rcu_read_unlock();
	return target;
}
