// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events: finds the streams that trace a thread, and records what their controllers may
 * know. The other files here have the tracepoint handlers; ring/recorder.c writes the records.
 *
 * All of this runs inside tracepoints, even in the scheduler with a run queue lock held, and in
 * interrupts: only raw locks, no allocation, no wake-up. An irq_work does the deferred work, and a
 * work item does the part that may sleep.
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

/* Runs outside the locks held in tracepoints. Interrupts may be off, but not on RT. */
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
	}
}

/**
 * pxt_kevent_end() - wait for the deferred work of kernel events
 * @stream: dead and not locked: pxt_gate_unlink() has waited for the last record
 *
 * Tracepoints no longer queue the irq_work, and after it has ended the work item is no longer
 * queued. Context: may sleep.
 */
void pxt_kevent_end(struct pxt_stream *stream)
{
	if (!stream->link.kernel_types)
		return;
	irq_work_sync(&stream->kernel_irq);
	cancel_work_sync(&stream->kernel_work);
}

/*
 * Events of the controller itself do not wake its readers: each sleep of a reader causes such an
 * event, and would end immediately. Interrupts do not wake readers: each wake-up and its timer is
 * one.
 */
static bool wakes(const struct pxt_stream *stream, const struct pxt_kevent *event,
		  const struct pid *process)
{
	return stream->owner != process && event->class != const_ilog2(POSIXTRACE_CLASS_IRQ);
}

/* The target of a task, if the controllers may see its activity. Called under RCU. */
static struct pxt_target *target_of(struct task_struct *task, bool hidden)
{
	struct pxt_target *target = pxt_target_lookup(task_tgid(task));

	if (!target || (!hidden && test_bit(PXT_TARGET_HIDDEN, &target->works)))
		return NULL;
	return target;
}

/*
 * Has the tracing permission been checked for the program in this address space? During exec, the
 * kernel writes to the new address space before it announces the new program.
 */
static bool is_decided(const struct pxt_target *target, const struct task_struct *task)
{
	return pxt_thread_uses(task, READ_ONCE(target->mm));
}

/*
 * May the controller know this thread? Without tracing them, it may know only its own threads.
 * Other threads are recorded as anonymous. Their permissions are not checked.
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
 * The ids of the thread for the controller. A reaped thread has no ids in its namespace at its last
 * context switch; task->pid and task->tgid remain valid. Using them directly for init_pid_ns also
 * saves an eighth of an event.
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

/* Called under RCU. */
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
 * pxt_kevent_record() - record a kernel event into all streams that want it
 * @event: event type
 * @task: the thread that the event concerns
 * @other: another thread that is part of the event, or NULL
 * @data: starts with an s32 for the thread id; modified for each stream
 * @len: bytes of @data
 *
 * The tracepoint should check pxt_interest_in() first. Context: in a tracepoint; scheduler locks
 * may be held.
 *
 * Return: false if no stream with kernel events traces the thread.
 */
bool pxt_kevent_record(const struct pxt_kevent *event, struct task_struct *task,
		       struct task_struct *other, void *data, u32 len)
{
	const struct pxt_target *target;
	struct pxt_stream *stream;
	unsigned long flags;
	u32 mask;

	/* With interrupts off: this is also an RCU section, and the recorder needs it. */
	local_irq_save(flags);
	target = target_of(task, event->hidden);
	if (target && event->memory && !is_decided(target, task))
		target = NULL;
	mask = target ? READ_ONCE(target->kernel_slots) : 0;
	for (; mask; mask &= mask - 1) {
		stream = pxt_stream_in(target, __ffs(mask));
		/*
		 * The slot may have another stream by now. Only a hint: the recorder checks again.
		 */
		if (stream && stream->pool.recorder &&
		    READ_ONCE(stream->pool.recorder->wanted) & BIT_ULL(event->id))
			record_into(stream, event, task, other, data, len);
	}
	local_irq_restore(flags);
	return target;
}
