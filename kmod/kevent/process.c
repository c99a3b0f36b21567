// SPDX-License-Identifier: GPL-2.0
/*
 * Class process: fork, exec, exit and rename.
 *
 * Since Linux 7.0, these handlers may be preempted, so they use no per-CPU data, and the called
 * functions disable interrupts where needed.
 */
#include <linux/binfmts.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "compat.h"
#include "kevent/probe.h"
#include "kevent/record.h"

static void fill_child(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_fork_data *fork = data;

	/* A child has the rights of its parent, so the controller may know it. */
	fork->child_pid = other ? task_tgid_nr_ns(other, stream->ns) : 0;
	fork->child_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
}

static const struct pxt_kevent fork_event = {
	.id = POSIXTRACE_ID_FORK,
	.class = PXT_CLASS(PROCESS),
	.words = PXT_PLAIN_WORDS(struct pxt_fork_data),
	.fill = fill_child,
	.trusted = true,
};

static void process_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	struct pxt_fork_data data = { 0 };

	if (pxt_interest_in(parent))
		pxt_kevent_record_plain(&fork_event, parent, child, &data, sizeof(data));
}

static const struct pxt_kevent exec_event = {
	.id = POSIXTRACE_ID_EXEC,
	.class = PXT_CLASS(PROCESS),
	.words = PXT_PLAIN_WORDS(struct pxt_exec_data),
	/*
	 * Record it even if the controller may not trace the new program: the old one chose the
	 * file.
	 */
	.hidden = true,
};

static void process_exec(void *unused, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	struct pxt_exec_data data;
	ssize_t len;

	if (!pxt_interest_in(task))
		return;
	len = strscpy(data.filename, bprm->filename, sizeof(data.filename));
	if (len < 0)
		len = sizeof(data.filename) - 1;
	pxt_kevent_record_plain(&exec_event, task, NULL, &data,
				offsetof(struct pxt_exec_data, filename) + len);
}

static const struct pxt_kevent exit_event = {
	.id = POSIXTRACE_ID_EXIT,
	.class = PXT_CLASS(PROCESS),
	.words = PXT_PLAIN_WORDS(struct pxt_exit_data),
};

static void process_exit(PXT_PROCESS_EXIT_ARGS)
{
	struct pxt_exit_data exit = {
		.exit_code = task->exit_code,
		.group_dead = !atomic_read(&task->signal->live),
	};

	if (pxt_interest_in(task))
		pxt_kevent_record_plain(&exit_event, task, NULL, &exit, sizeof(exit));
}

static const struct pxt_kevent rename_event = {
	.id = POSIXTRACE_ID_RENAME,
	.class = PXT_CLASS(PROCESS),
	.words = PXT_PLAIN_WORDS(struct pxt_rename_data),
};

static void task_rename(void *unused, struct task_struct *task, const char *comm)
{
	struct pxt_rename_data data = { 0 };

	if (!pxt_interest_in(task))
		return;
	strscpy(data.oldcomm, task->comm, sizeof(data.oldcomm));
	strscpy(data.newcomm, comm, sizeof(data.newcomm));
	pxt_kevent_record_plain(&rename_event, task, NULL, &data, sizeof(data));
}

static struct pxt_probe probes[] = {
	{ "sched_process_fork", process_fork },
	{ "sched_process_exec", process_exec },
	{ "sched_process_exit", process_exit },
	{ "task_rename", task_rename },
};

const struct pxt_probes pxt_probes_process = {
	.class = POSIXTRACE_CLASS_PROCESS,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
};
