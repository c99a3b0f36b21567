// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints behind the events of the kernel, by class. They are found by name, and have a
 * handler only while there is a stream that asks for their class.
 *
 * The handlers of the scheduler's tracepoints run with the lock of a run queue or of a task, and
 * interrupts off, on PREEMPT_RT, too. From Linux 7.0 on, the others may be preempted: they use no
 * data of the CPU, and what they call turns interrupts off where it does.
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <linux/posixtrace.h>

#include "compat.h"
#include "tracepoints.h"
#include "ring/clock.h"
#include "stream/kevent.h"
#include "stream/stream.h"
#include "target/interest.h"

#define SCHED	const_ilog2(POSIXTRACE_CLASS_SCHED)
#define PROCESS	const_ilog2(POSIXTRACE_CLASS_PROCESS)

static bool syscall_class;

static int set_syscall_class(const char *value, const struct kernel_param *param)
{
	if (sysfs_streq(value, "admin"))
		WRITE_ONCE(syscall_class, false);
	else if (sysfs_streq(value, "user"))
		WRITE_ONCE(syscall_class, true);
	else
		return -EINVAL;
	return 0;
}

static int get_syscall_class(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", READ_ONCE(syscall_class) ? "user" : "admin");
}

static const struct kernel_param_ops syscall_class_ops = {
	.set = set_syscall_class,
	.get = get_syscall_class,
};

module_param_cb(syscall_class, &syscall_class_ops, NULL, 0644);
MODULE_PARM_DESC(syscall_class, "Who may record system calls: admin (default) or user");

/* ------------------------------------------------------------------ */
/* Class sched								*/

/* As the kernel's own sched_switch shows it: a preempted task runs on, whatever it prepared. */
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

static void switch_out(struct task_struct *prev, struct task_struct *next, bool preempt,
		       unsigned int state)
{
	struct pxt_switch_out data = {
		.prio = prev->prio,
		.state = state_of(prev, preempt, state),
		.reason = reason_of(prev, preempt, state),
	};
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_SWITCH_OUT,
		.class = SCHED,
		.len = sizeof(data),
		.data = &data,
		.task = prev,
		.other = next,
		.fill = fill_next,
	};

	if (pxt_kevent_record(&event) && data.reason == PXT_SWITCH_PREEMPTED)
		pxt_runnable_begin(prev);
}

/* The time at the end of a wait, and what belongs to the stream. */
struct switch_in {
	struct pxt_switch_in data;
	u64 since;
	u64 now;
};

static void fill_prev(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct switch_in *in = data;

	/* A time from before the stream may be that of another thread. */
	in->data.runnable = in->since > stream->attr.creation_time ? in->now - in->since : 0;
	in->data.prev_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
	in->data.prev_prio = other ? other->prio : 0;
}

static void switch_in(struct task_struct *prev, struct task_struct *next)
{
	struct switch_in in = {
		.data.prio = next->prio,
		.since = pxt_runnable_end(next),
		.now = pxt_clock_now(),
	};
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_SWITCH_IN,
		.class = SCHED,
		.len = sizeof(in.data),
		.data = &in,
		.task = next,
		.other = prev,
		.fill = fill_prev,
	};

	pxt_kevent_record(&event);
}

/* Not inlined, so that the common path needs no stack; its arguments are where they are already. */
static noinline __noclone void record_switch(void *data, bool preempt, struct task_struct *prev,
					     struct task_struct *next, unsigned int prev_state)
{
	if (pxt_interest_in(prev))
		switch_out(prev, next, preempt, prev_state);
	if (pxt_interest_in(next))
		switch_in(prev, next);
	pxt_interest_switched(next);
}

/* On the way of every switch of the machine: the look is all that most of them need. */
static void sched_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	if (unlikely(pxt_interest_in_switch(next)))
		record_switch(data, preempt, prev, next, prev_state);
}

static void fill_waker(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_wakeup *wakeup = data;

	/* Of an interrupt, there is no other thread. */
	if (wakeup->by == PXT_WAKER_INTERRUPT)
		return;
	wakeup->by = other ? PXT_WAKER_THREAD : PXT_WAKER_ANOTHER;
	wakeup->waker_pid = other ? task_tgid_nr_ns(other, stream->ns) : 0;
	wakeup->waker_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
}

static noinline void record_wakeup(struct task_struct *task, bool new)
{
	/* Not in_interrupt(): a task that has only turned softirqs off is the waker. */
	bool interrupt = in_hardirq() || in_serving_softirq();
	struct pxt_wakeup data = {
		.prio = task->prio,
		.target_cpu = task_cpu(task),
		.by = interrupt ? PXT_WAKER_INTERRUPT : PXT_WAKER_ANOTHER,
		.new = new,
	};
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_WAKEUP,
		.class = SCHED,
		.len = sizeof(data),
		.data = &data,
		.task = task,
		.other = interrupt ? NULL : current,
		.fill = fill_waker,
	};

	if (pxt_kevent_record(&event))
		pxt_runnable_begin(task);
}

/* In the waker. The tracepoint sched_wakeup may be hit on another CPU, in an interrupt. */
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

static noinline void record_migration(struct task_struct *task, int dest_cpu)
{
	struct pxt_migrate migrate = {
		.prio = task->prio,
		.orig_cpu = task_cpu(task),
		.dest_cpu = dest_cpu,
	};
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_MIGRATE,
		.class = SCHED,
		.len = sizeof(migrate),
		.data = &migrate,
		.task = task,
	};

	pxt_kevent_record(&event);
}

static void sched_migrate_task(void *data, struct task_struct *task, int dest_cpu)
{
	if (unlikely(pxt_interest_in(task)))
		record_migration(task, dest_cpu);
}

/* ------------------------------------------------------------------ */
/* Class process							*/

static void fill_child(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_fork_data *fork = data;

	/* A child has the rights of its parent: the controller may know it. */
	fork->child_pid = other ? task_tgid_nr_ns(other, stream->ns) : 0;
	fork->child_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
}

static void process_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	struct pxt_fork_data data = { 0 };
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_FORK,
		.class = PROCESS,
		.len = sizeof(data),
		.data = &data,
		.task = parent,
		.other = child,
		.fill = fill_child,
		.trusted = true,
	};

	pxt_kevent_record(&event);
}

static void process_exec(void *unused, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	struct pxt_exec_data data;
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_EXEC,
		.class = PROCESS,
		.data = &data,
		.task = task,
		/* The old program has chosen the file. */
		.hidden = true,
	};
	ssize_t len;

	if (!pxt_interest_in(task))
		return;
	len = strscpy(data.filename, bprm->filename, sizeof(data.filename));
	if (len < 0)
		len = sizeof(data.filename) - 1;
	event.len = offsetof(struct pxt_exec_data, filename) + len;
	pxt_kevent_record(&event);
}

static void process_exit(PXT_PROCESS_EXIT_ARGS)
{
	struct pxt_exit_data exit = {
		.exit_code = task->exit_code,
		.group_dead = !atomic_read(&task->signal->live),
	};
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_EXIT,
		.class = PROCESS,
		.len = sizeof(exit),
		.data = &exit,
		.task = task,
	};

	pxt_kevent_record(&event);
}

static void task_rename(void *unused, struct task_struct *task, const char *comm)
{
	struct pxt_rename_data data = { 0 };
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_RENAME,
		.class = PROCESS,
		.len = sizeof(data),
		.data = &data,
		.task = task,
	};

	if (!pxt_interest_in(task))
		return;
	strscpy(data.oldcomm, task->comm, sizeof(data.oldcomm));
	strscpy(data.newcomm, comm, sizeof(data.newcomm));
	pxt_kevent_record(&event);
}

/* ------------------------------------------------------------------ */
/* Registration								*/

/*
 * Guards users and the registration. Outside of the kernel's lock of the tracepoints; inside of the
 * lock of a stream that ends.
 */
static DEFINE_MUTEX(pxt_tracepoints_lock);

/**
 * struct hook - a tracepoint and its handler
 * @class: POSIXTRACE_CLASS_*
 * @name: of the tracepoint
 * @probe: as its TP_PROTO says
 * @tp: the tracepoint, or NULL if this kernel has none
 * @users: streams that ask for it
 */
struct hook {
	u64 class;
	const char *name;
	void *probe;
	struct tracepoint *tp;
	unsigned int users;
};

static struct hook hooks[] = {
	{ POSIXTRACE_CLASS_SCHED, "sched_switch", sched_switch },
	{ POSIXTRACE_CLASS_SCHED, "sched_waking", sched_waking },
	{ POSIXTRACE_CLASS_SCHED, "sched_wakeup_new", sched_wakeup_new },
	{ POSIXTRACE_CLASS_SCHED, "sched_migrate_task", sched_migrate_task },
	{ POSIXTRACE_CLASS_PROCESS, "sched_process_fork", process_fork },
	{ POSIXTRACE_CLASS_PROCESS, "sched_process_exec", process_exec },
	{ POSIXTRACE_CLASS_PROCESS, "sched_process_exit", process_exit },
	{ POSIXTRACE_CLASS_PROCESS, "task_rename", task_rename },
};

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
	}
}

/**
 * pxt_tracepoints_init() - look which tracepoints this kernel has
 *
 * There is no need for the opposite: a stream that ends removes its handlers, and
 * pxt_process_exit() waits for the last ones.
 */
void pxt_tracepoints_init(void)
{
	pxt_runnable_init();
	for_each_kernel_tracepoint(find_tracepoint, NULL);
}

/**
 * pxt_tracepoints_classes() - the classes that this kernel can record
 *
 * Return: POSIXTRACE_CLASS_*.
 */
u64 pxt_tracepoints_classes(void)
{
	u64 classes = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		classes |= hooks[i].class;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!hooks[i].tp)
			classes &= ~hooks[i].class;
	}
	return classes;
}

/**
 * pxt_tracepoints_check() - may the caller create a stream with these classes?
 * @classes: POSIXTRACE_CLASS_*
 *
 * Handlers of system calls make those of all processes slower.
 *
 * Return: 0; -EPERM for the system calls; -EOPNOTSUPP if this kernel cannot record a class.
 */
int pxt_tracepoints_check(u64 classes)
{
	if (classes & POSIXTRACE_CLASS_SYSCALL && !READ_ONCE(syscall_class) && !perfmon_capable())
		return -EPERM;
	return classes & ~pxt_tracepoints_classes() ? -EOPNOTSUPP : 0;
}

static void put_hooks(u64 classes, size_t n)
{
	while (n--) {
		if (hooks[n].class & classes && !--hooks[n].users)
			tracepoint_probe_unregister(hooks[n].tp, hooks[n].probe, NULL);
	}
}

/**
 * pxt_tracepoints_get() - one more stream has events of the kernel
 * @classes: POSIXTRACE_CLASS_*, checked
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_tracepoints_get(u64 classes)
{
	int err = 0;
	size_t i;

	if (!classes)
		return 0;
	mutex_lock(&pxt_tracepoints_lock);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!(hooks[i].class & classes))
			continue;
		if (!hooks[i].users)
			err = tracepoint_probe_register(hooks[i].tp, hooks[i].probe, NULL);
		if (err)
			break;
		hooks[i].users++;
	}
	if (err)
		put_hooks(classes, i);
	mutex_unlock(&pxt_tracepoints_lock);
	return err;
}

/**
 * pxt_tracepoints_put() - one stream with events of the kernel less
 * @classes: of pxt_tracepoints_get()
 *
 * A handler may still run when this returns. Context: may sleep.
 */
void pxt_tracepoints_put(u64 classes)
{
	if (!classes)
		return;
	mutex_lock(&pxt_tracepoints_lock);
	put_hooks(classes, ARRAY_SIZE(hooks));
	mutex_unlock(&pxt_tracepoints_lock);
}
