// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the kernel: finds the streams that trace a thread, and records into them what their
 * controllers may know. Handlers of the tracepoints are in the other files here, the writing is in
 * ring/recorder.c.
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

#include "compat.h"
#include "kevent/kevent.h"
#include "log/log.h"
#include "ring/recorder.h"
#include "ring/subbuf.h"
#include "ring/wake.h"
#include "stream/state.h"
#include "stream/stream.h"
#include "target/interest.h"
#include "target/memory.h"
#include "target/shared_tp.h"
#include "target/targets.h"

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
static bool wakes(const struct pxt_stream *stream, const struct pxt_kevent *event,
		  const struct pid *process)
{
	return stream->owner != process && event->class != const_ilog2(POSIXTRACE_CLASS_IRQ);
}

/* The target of a task, if the controllers may see what it does. Under RCU. */
static struct pxt_target *target_of(struct task_struct *task, bool hidden)
{
	struct pxt_target *target = pxt_target_lookup(task_tgid(task));

	if (!target || (!hidden && test_bit(PXT_TARGET_HIDDEN, &target->works)))
		return NULL;
	return target;
}

/*
 * Is the address space that of a program of which it was decided who may trace it? The kernel
 * writes into that of the next program before it says that there is one.
 */
static bool is_decided(const struct pxt_target *target, const struct task_struct *task)
{
	return pxt_thread_uses(task, READ_ONCE(target->mm));
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
	target = pxt_interest_in(task) ? target_of(task, false) : NULL;
	return target && rcu_access_pointer(target->slot[stream->link.slot]) == &stream->link;
}

static bool may_know(const struct pxt_stream *stream, const struct pxt_kevent *event,
		     struct task_struct *task, struct task_struct *other)
{
	return event->trusted || task_tgid(other) == task_tgid(task) || is_known(stream, other);
}

/*
 * The ids of the thread for the controller. A thread that has been reaped has none in a namespace
 * any more when it leaves its CPU for the last time, but it still knows those in the initial one.
 * Not to look for them there saves an eighth of an event.
 */
static void set_writer(struct posixtrace_writer *writer, struct task_struct *task,
		       struct pid_namespace *ns)
{
	bool initial = ns == &init_pid_ns;

	*writer = (struct posixtrace_writer) {
		.type = POSIXTRACE_ID_WRITER,
		.pid = initial ? task->tgid : task_tgid_nr_ns(task, ns),
		.tid = initial ? task->pid : task_pid_nr_ns(task, ns),
		.thread_id = pxt_thread_id(task),
	};
}

/* Under RCU. */
static void record_into(struct pxt_stream *stream, const struct pxt_kevent *event,
			struct task_struct *task, struct task_struct *other, void *data, u32 len)
{
	struct pxt_entry entry PXT_UNINITIALIZED;

	set_writer(&entry.writer, task, stream->ns);
	entry.record = (struct posixtrace_record) {
		.data_len = len,
		.type = POSIXTRACE_RECORD_TYPE(event->id, 0),
	};
	pxt_entry_pack(&entry);
	*(s32 *)data = entry.writer.tid;
	if (event->fill) {
		if (other && !may_know(stream, event, task, other))
			other = NULL;
		event->fill(data, stream, other);
	}
	pxt_recorder_record(&stream->pool, event->class, &entry, data,
			    wakes(stream, event, task_tgid(task)));
}

/**
 * pxt_kevent_record() - record an event of the kernel into all streams that want it
 * @event: its type
 * @task: the thread that it happens to
 * @other: another thread that it names, or NULL
 * @data: begins with an s32 for the thread id; changed for each stream
 * @len: bytes of @data
 *
 * The tracepoint should have asked pxt_interest_in() before. Context: in a tracepoint; locks of the
 * scheduler may be held.
 *
 * Return: false if no stream with events of the kernel traces the thread.
 */
bool pxt_kevent_record(const struct pxt_kevent *event, struct task_struct *task,
		       struct task_struct *other, void *data, u32 len)
{
	const struct pxt_target *target;
	struct pxt_stream *stream;
	unsigned long flags;
	u32 mask;

	/* Interrupts off: a section of RCU as well, and the recorder needs it. */
	local_irq_save(flags);
	target = target_of(task, event->hidden);
	if (target && event->memory && !is_decided(target, task))
		target = NULL;
	mask = target ? READ_ONCE(target->kernel_slots) : 0;
	for (; mask; mask &= mask - 1) {
		stream = pxt_stream_in(target, __ffs(mask));
		/* The slot may have another stream by now. A hint: the recorder looks again. */
		if (stream && stream->pool.recorder &&
		    READ_ONCE(stream->pool.recorder->wanted) & BIT_ULL(event->id))
			record_into(stream, event, task, other, data, len);
	}
	local_irq_restore(flags);
	return target;
}
