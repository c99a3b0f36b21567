// SPDX-License-Identifier: GPL-2.0
/*
 * Class sched: threads leave and get a CPU, are woken, and migrate.
 *
 * These handlers run with the lock of a run queue or of a task, and with interrupts off, even on
 * PREEMPT_RT.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "kevent/futex.h"
#include "kevent/probe.h"
#include "kevent/record.h"
#include "kevent/runnable.h"
#include "kevent/waker.h"
#include "kevent/watch.h"

/* As in the kernel's event sched_switch: a preempted task counts as running, whatever its state. */
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

/*
 * Before Linux 6.16, the tracepoint gets the state from before the scheduler checked for signals: a
 * thread that wants to sleep and has a signal pending stays runnable. A wake-up cannot have set the
 * state to running: it waits for the lock of the run queue, or until the thread has left its CPU.
 */
static __always_inline unsigned int real_state(const struct task_struct *task, unsigned int state)
{
	return READ_ONCE(task->__state) == TASK_RUNNING ? TASK_RUNNING : state;
}

/* The task of a switch event, and what has been computed for the event. */
struct switched {
	const struct task_struct *task;
	u8 state;
	u8 reason;
	u64 since;
	u64 *time;	/* result: time of the event, for a switch out */
};

/* Returns the priority plus 1, so that it fits into a byte: priorities are -1 to 139. */
static __always_inline u64 prio_of(const struct task_struct *task)
{
	return (u8)(task->prio + 1);
}

/*
 * The id and the priority of the other thread. @other is NULL if the controller must not know it.
 */
static __always_inline u32 tid_of(const struct pxt_stream *stream, struct task_struct *other)
{
	return other ? pxt_memo_tid(stream, other) : 0;
}

static __always_inline u64 other_prio(const struct task_struct *other)
{
	return other ? prio_of(other) : 1;
}

static const struct pxt_kevent switch_out_event = {
	.id = POSIXTRACE_ID_SWITCH_OUT,
	.class = PXT_CLASS(SCHED),
	.words = 1,
	.own = true,
};

static __always_inline void write_switch_out(struct pxt_kdata *to, const void *data,
					     const struct pxt_stream *stream,
					     struct task_struct *other)
{
	const struct switched *out = data;

	*out->time = to->time;
	to->value = POSIXTRACE_KVALUE_SCHED(out->task->prio, out->reason, 0);
	*to->end++ = tid_of(stream, other) | other_prio(other) << 32 | (u64)out->state << 40;
}

PXT_KEVENT_OTHERS(record_other_outs, struct switched, &switch_out_event, write_switch_out)

static const struct pxt_kevent futex_wait_event = {
	.id = POSIXTRACE_ID_FUTEX_WAIT,
	.class = PXT_CLASS(SCHED),
	.words = PXT_PLAIN_WORDS(struct pxt_futex_data),
	.own = true,
	.memory = true,
};

static __always_inline void write_futex_wait(struct pxt_kdata *to, const void *data,
					     const struct pxt_stream *stream,
					     struct task_struct *other)
{
	const struct pxt_futex *futex = data;

	/* The layout of struct pxt_futex_data without its tid. The last byte is padding. */
	*to->end++ = futex->address;
	*to->end++ = futex->ip;
	*to->end++ = futex->lock | (u64)futex->owner << 32;
	*to->end++ = futex->kind | (u64)futex->operation << 32 | (u64)futex->known << 40 |
		     (u64)futex->same_ids << 48;
	to->value = 1;
	to->flags |= POSIXTRACE_KFLAG_PLAIN;
}

static void write_other_futex_wait(struct pxt_kdata *to, const void *data,
				   const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_futex futex = *(const struct pxt_futex *)data;

	futex.same_ids = pxt_memo_same_ids(stream, current);
	write_futex_wait(to, &futex, stream, other);
}

/*
 * Record the futex wait and the switch into the streams that pxt_kevent_both() left out: all but
 * the first stream. With @all, also into the first stream, which wants at most one of the two.
 */
static noinline __cold void record_other_futex_outs(const struct pxt_memo *memo, bool all,
						    struct task_struct *prev,
						    struct task_struct *next, struct switched out)
{
	const u64 thread_id = pxt_own_thread_id();
	struct pxt_futex futex;
	u64 time;

	out.time = &time;
	pxt_futex_read(&futex, prev);
	if (all) {
		pxt_kevent_into(memo, thread_id, &futex_wait_event, prev, NULL, &futex,
				write_other_futex_wait);
		pxt_kevent_into(memo, thread_id, &switch_out_event, prev, next, &out,
				write_switch_out);
	}
	if (!memo->more)
		return;
	pxt_kevent_others(memo, &futex_wait_event, prev, NULL, &futex, write_other_futex_wait);
	pxt_kevent_others(memo, &switch_out_event, prev, next, &out, write_switch_out);
}

/*
 * Does the thread wait for a futex, may the controllers read its memory, and may a stream want this
 * event?
 */
static __always_inline bool is_futex_wait(const struct pxt_memo *memo, struct task_struct *prev,
					  bool preempt, unsigned int state)
{
	return unlikely(pxt_futex_calls(prev)) && !preempt && state & TASK_INTERRUPTIBLE &&
	       pxt_futex_in_call(prev) && pxt_thread_uses(prev, memo->mm) &&
	       (pxt_kevent_wants(memo, BIT_ULL(POSIXTRACE_ID_FUTEX_WAIT)) || memo->more);
}

/* Record the futex that the thread waits for, and then its switch. */
static __always_inline void futex_out(const struct pxt_memo *memo, struct task_struct *prev,
				      struct task_struct *next)
{
	u64 time;
	const struct switched out = {
		.task = prev,
		.state = const_ilog2(TASK_INTERRUPTIBLE) + 1,
		.reason = PXT_SWITCH_BLOCKED,
		.time = &time,
	};
	struct pxt_futex futex PXT_UNINITIALIZED;
	bool both;

	pxt_futex_read(&futex, prev);
	futex.same_ids = memo->same_ids;
	both = pxt_kevent_both(memo, pxt_own_thread_id(), &futex_wait_event, &futex,
			       write_futex_wait, &switch_out_event, prev, next, &out,
			       write_switch_out);
	if (unlikely(!both || memo->more))
		record_other_futex_outs(memo, !both, prev, next, out);
}

static void switch_out(struct task_struct *prev, struct task_struct *next, bool preempt,
		       unsigned int state)
{
	const struct pxt_memo *memo = pxt_memo_of(prev);
	u64 time = 0;
	const struct switched out = {
		.task = prev,
		.state = state_of(prev, preempt, state),
		.reason = reason_of(prev, preempt, state),
		.time = &time,
	};

	if (unlikely(memo->watched) && out.state && out.reason != PXT_SWITCH_ENDED)
		pxt_watch_out(prev);
	if (is_futex_wait(memo, prev, preempt, state)) {
		futex_out(memo, prev, next);
		return;
	}
	pxt_kevent_into(memo, pxt_own_thread_id(), &switch_out_event, prev, next, &out,
			write_switch_out);
	if (unlikely(memo->more))
		record_other_outs(memo, prev, next, out);
	if (memo->stream && out.reason == PXT_SWITCH_PREEMPTED)
		pxt_runnable_begin(prev, time);
}

static const struct pxt_kevent switch_in_event = {
	.id = POSIXTRACE_ID_SWITCH_IN,
	.class = PXT_CLASS(SCHED),
	.words = 2,
};

static __always_inline void write_switch_in(struct pxt_kdata *to, const void *data,
					    const struct pxt_stream *stream,
					    struct task_struct *other)
{
	const struct switched *in = data;
	u64 runnable = 0;

	/*
	 * A time before the creation of the stream may belong to another thread. The clock of the
	 * streams may also have gone back since then: it follows the time of day again when no
	 * stream is left.
	 */
	if (in->since > stream->attr.creation_time && in->since <= to->time)
		runnable = to->time - in->since;
	to->value = POSIXTRACE_KVALUE_SCHED(in->task->prio, 0, 0);
	*to->end++ = tid_of(stream, other) | other_prio(other) << 24 | runnable << 32;
	if (unlikely(upper_32_bits(runnable)))
		*to->end++ = upper_32_bits(runnable);
}

PXT_KEVENT_OTHERS(record_other_ins, struct switched, &switch_in_event, write_switch_in)

static void switch_in(struct task_struct *prev, struct task_struct *next)
{
	const struct switched in = { .task = next, .since = pxt_runnable_end(next) };
	const struct pxt_memo *memo;

	memo = pxt_kevent_record(&switch_in_event, next, prev, &in, write_switch_in);
	if (unlikely(memo->more))
		record_other_ins(memo, next, prev, in);
	if (unlikely(memo->watched))
		pxt_watch_in(memo, next, in.since);
}

/*
 * Not inlined, so that sched_switch() needs no stack in the common case. Has the same arguments as
 * sched_switch(), so that they stay in their registers.
 */
static noinline __noclone void record_switch(void *data, bool preempt, struct task_struct *prev,
					     struct task_struct *next, unsigned int prev_state)
{
	if (pxt_interest_in(prev))
		switch_out(prev, next, preempt, real_state(prev, prev_state));
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

static const struct pxt_kevent wakeup_event = {
	.id = POSIXTRACE_ID_WAKEUP,
	.class = PXT_CLASS(SCHED),
	.words = 1,
	.current_other = true,
};

/*
 * Trusted, because the kernel itself tells the parent of the end of its child, with its process id.
 */
static const struct pxt_kevent wakeup_child_event = {
	.id = POSIXTRACE_ID_WAKEUP,
	.class = PXT_CLASS(SCHED),
	.words = 1,
	.trusted = true,
};

struct wakeup {
	const struct task_struct *task;
	struct pxt_waker waker;
	bool new;
	u64 *time;	/* result: time of the event */
};

static __always_inline void put_wakeup(struct pxt_kdata *to, const struct wakeup *wakeup, u32 by,
				       u64 pid, u64 tid)
{
	*wakeup->time = to->time;
	to->value = POSIXTRACE_KVALUE_SCHED(wakeup->task->prio, by & 3, wakeup->new);
	*to->end++ = pid | tid << 24 | (u64)(by >> 2) << POSIXTRACE_KWAKER_BY_SHIFT |
		     (u64)task_cpu(wakeup->task) << 48;
}

static __always_inline void write_wakeup(struct pxt_kdata *to, const void *data,
					 const struct pxt_stream *stream,
					 struct task_struct *other)
{
	const struct wakeup *wakeup = data;
	u32 by = wakeup->waker.anonymous;
	u64 pid = 0, tid = 0;

	if (other)
		pid = pxt_memo_pid(stream, other);
	/* A waker outside of the controller's pid namespace has no id there: it stays anonymous. */
	if (pid) {
		by = wakeup->waker.by;
		tid = tid_of(stream, other);
	}
	put_wakeup(to, wakeup, by, pid, tid);
}

/*
 * Use the process id as thread id: a parent must not learn which thread of its child was the last.
 */
static void write_child_wakeup(struct pxt_kdata *to, const void *data,
			       const struct pxt_stream *stream, struct task_struct *other)
{
	u64 pid = pxt_memo_pid(stream, other);

	put_wakeup(to, data, PXT_WAKER_CHILD, pid, pid);
}

static noinline __cold const struct pxt_memo *record_child_wakeup(struct task_struct *task,
								  const struct wakeup *wakeup)
{
	const struct pxt_memo *memo;

	memo = pxt_kevent_record(&wakeup_child_event, task, current, wakeup, write_child_wakeup);
	if (memo->more)
		pxt_kevent_others(memo, &wakeup_child_event, task, current, wakeup,
				  write_child_wakeup);
	return memo;
}

PXT_KEVENT_OTHERS(record_other_wakeups, struct wakeup, &wakeup_event, write_wakeup)

static noinline void record_wakeup(struct task_struct *task, bool new)
{
	u64 time = 0;
	struct wakeup wakeup = { .task = task, .new = new, .time = &time };
	const struct pxt_memo *memo;
	unsigned long flags;

	/* Interrupts are on if the task wakes itself. */
	local_irq_save(flags);
	wakeup.waker = pxt_waker_of(task);
	if (unlikely(wakeup.waker.by == PXT_WAKER_CHILD)) {
		memo = record_child_wakeup(task, &wakeup);
	} else {
		memo = pxt_kevent_record(&wakeup_event, task, wakeup.waker.task, &wakeup,
					 write_wakeup);
		if (unlikely(memo->more))
			record_other_wakeups(memo, task, wakeup.waker.task, wakeup);
	}
	if (memo->stream)
		pxt_runnable_begin(task, time);
	if (unlikely(memo->watched))
		pxt_watch_wakeup(memo, task);
	local_irq_restore(flags);
}

/* sched_waking runs in the waker; sched_wakeup may run on another CPU, in an interrupt. */
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
	.words = 1,
};

struct migration {
	const struct task_struct *task;
	u32 dest_cpu;
};

static __always_inline void write_migration(struct pxt_kdata *to, const void *data,
					    const struct pxt_stream *stream,
					    struct task_struct *other)
{
	const struct migration *migration = data;

	to->value = POSIXTRACE_KVALUE_SCHED(migration->task->prio, 0, 0);
	*to->end++ = task_cpu(migration->task) | (u64)migration->dest_cpu << 32;
}

PXT_KEVENT_OTHERS(record_other_migrations, struct migration, &migrate_event, write_migration)

static noinline void record_migration(struct task_struct *task, int dest_cpu)
{
	const struct migration migration = { .task = task, .dest_cpu = dest_cpu };
	const struct pxt_memo *memo;

	memo = pxt_kevent_record(&migrate_event, task, NULL, &migration, write_migration);
	if (unlikely(memo->more))
		record_other_migrations(memo, task, NULL, migration);
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
