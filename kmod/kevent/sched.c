// SPDX-License-Identifier: GPL-2.0
/*
 * Class sched: threads leave and get a CPU, are woken, and migrate.
 *
 * These handlers run with the lock of a run queue or of a task, and with interrupts off, even on
 * PREEMPT_RT.
 */
#include <linux/preempt.h>
#include <linux/sched.h>

#include "kevent/kevent.h"
#include "kevent/probe.h"
#include "kevent/runnable.h"
#include "ring/clock.h"
#include "stream/stream.h"
#include "target/interest.h"

/* Like the kernel's sched_switch: a preempted task keeps running, whatever state it had set. */
static u8 state_of(const struct task_struct *task, bool preempt, unsigned int state)
{
	return preempt ? 0 : __task_state_index(state, task->exit_state);
}

static u8 reason_of(const struct task_struct *task, bool preempt, unsigned int state)
{
	if (preempt || !state)
		return PXT_SWITCH_PREEMPTED;
	if (state & TASK_DEAD)
		return PXT_SWITCH_ENDED;
	return task->in_iowait ? PXT_SWITCH_IO : PXT_SWITCH_BLOCKED;
}

static void fill_next(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_switch_out *out = data;

	out->next_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
	out->next_prio = other ? other->prio : 0;
}

static const struct pxt_kevent switch_out_event = {
	.id = POSIXTRACE_ID_SWITCH_OUT,
	.class = PXT_CLASS(SCHED),
	.fill = fill_next,
};

static void switch_out(struct task_struct *prev, struct task_struct *next, bool preempt,
		       unsigned int state)
{
	struct pxt_switch_out data = {
		.prio = prev->prio,
		.state = state_of(prev, preempt, state),
		.reason = reason_of(prev, preempt, state),
	};

	if (pxt_kevent_record(&switch_out_event, prev, next, &data, sizeof(data)) &&
	    data.reason == PXT_SWITCH_PREEMPTED)
		pxt_runnable_begin(prev);
}

/* Data of the event, and the times of the wait for each stream. */
struct switch_in {
	struct pxt_switch_in data;
	u64 since;
	u64 now;
};

static void fill_prev(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct switch_in *in = data;

	/*
	 * A time before the stream may belong to another thread. The clock of the streams may also
	 * have gone back since then: it follows the time of day again when no stream is left.
	 */
	if (in->since > stream->attr.creation_time && in->since <= in->now)
		in->data.runnable = in->now - in->since;
	else
		in->data.runnable = 0;
	in->data.prev_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
	in->data.prev_prio = other ? other->prio : 0;
}

static const struct pxt_kevent switch_in_event = {
	.id = POSIXTRACE_ID_SWITCH_IN,
	.class = PXT_CLASS(SCHED),
	.fill = fill_prev,
};

static void switch_in(struct task_struct *prev, struct task_struct *next)
{
	struct switch_in in = {
		.data.prio = next->prio,
		.since = pxt_runnable_end(next),
		.now = pxt_clock_now(),
	};

	pxt_kevent_record(&switch_in_event, next, prev, &in, sizeof(in.data));
}

/* Not inlined, so that the common path needs no stack; the arguments are already in place. */
static noinline __noclone void record_switch(void *data, bool preempt, struct task_struct *prev,
					     struct task_struct *next, unsigned int prev_state)
{
	if (pxt_interest_in(prev))
		switch_out(prev, next, preempt, prev_state);
	if (pxt_interest_in(next))
		switch_in(prev, next);
}

/* Runs in every context switch of the machine: most need only this check. */
static void sched_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	if (unlikely(pxt_interest_in(prev) || pxt_interest_in(next)))
		record_switch(data, preempt, prev, next, prev_state);
}

static void fill_waker(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_wakeup *wakeup = data;

	/* An interrupt has no waking thread. */
	if (wakeup->by == PXT_WAKER_INTERRUPT)
		return;
	wakeup->by = other ? PXT_WAKER_THREAD : PXT_WAKER_ANOTHER;
	wakeup->waker_pid = other ? task_tgid_nr_ns(other, stream->ns) : 0;
	wakeup->waker_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
}

static const struct pxt_kevent wakeup_event = {
	.id = POSIXTRACE_ID_WAKEUP,
	.class = PXT_CLASS(SCHED),
	.fill = fill_waker,
};

static noinline void record_wakeup(struct task_struct *task, bool new)
{
	/* Not in_interrupt(): a task that has merely disabled softirqs is the waker. */
	bool interrupt = in_hardirq() || in_serving_softirq();
	struct pxt_wakeup data = {
		.prio = task->prio,
		.target_cpu = task_cpu(task),
		.by = interrupt ? PXT_WAKER_INTERRUPT : PXT_WAKER_ANOTHER,
		.new = new,
	};

	if (pxt_kevent_record(&wakeup_event, task, interrupt ? NULL : current, &data, sizeof(data)))
		pxt_runnable_begin(task);
}

/* Runs in the waker. The tracepoint sched_wakeup may run on another CPU, in an interrupt. */
static void sched_waking(void *data, struct task_struct *task)
{
	if (unlikely(pxt_interest_in(task)))
		record_wakeup(task, false);
}

static void sched_wakeup_new(void *data, struct task_struct *task)
{
	if (unlikely(pxt_interest_in(task)))
		record_wakeup(task, true);
}

static const struct pxt_kevent migrate_event = {
	.id = POSIXTRACE_ID_MIGRATE,
	.class = PXT_CLASS(SCHED),
};

static noinline void record_migration(struct task_struct *task, int dest_cpu)
{
	struct pxt_migrate migrate = {
		.prio = task->prio,
		.orig_cpu = task_cpu(task),
		.dest_cpu = dest_cpu,
	};

	pxt_kevent_record(&migrate_event, task, NULL, &migrate, sizeof(migrate));
}

static void sched_migrate_task(void *data, struct task_struct *task, int dest_cpu)
{
	if (unlikely(pxt_interest_in(task)))
		record_migration(task, dest_cpu);
}

static struct pxt_probe probes[] = {
	{ "sched_switch", sched_switch },
	{ "sched_waking", sched_waking },
	{ "sched_wakeup_new", sched_wakeup_new },
	{ "sched_migrate_task", sched_migrate_task },
};

const struct pxt_probes pxt_probes_sched = {
	.class = POSIXTRACE_CLASS_SCHED,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
};
