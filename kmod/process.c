// SPDX-License-Identifier: GPL-2.0
/*
 * Hears of processes that execute a program or end, from the tracepoints of the
 * scheduler. They are not exported by name, but can be looked up.
 */
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "process.h"
#include "stream.h"

struct linux_binprm;

/* As TP_PROTO says. */
static void process_exec(void *data, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	pxt_stream_end_owner();
}

static void process_exit(PXT_PROCESS_EXIT_ARGS)
{
	/* Of the last thread: the count is taken down before. */
	if (!atomic_read(&task->signal->live))
		pxt_stream_end_owner();
}

static struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} hooks[] = {
	{ .name = "sched_process_exec", .probe = process_exec },
	{ .name = "sched_process_exit", .probe = process_exit },
};

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
	}
}

static void unregister(size_t n)
{
	while (n--)
		tracepoint_probe_unregister(hooks[n].tp, hooks[n].probe, NULL);
	tracepoint_synchronize_unregister();
}

/**
 * pxt_process_init() - from now on a controller that execs or ends loses its streams
 *
 * Return: 0; -ENODEV if this kernel has no such tracepoints; -ENOMEM.
 */
int pxt_process_init(void)
{
	int err = 0;
	size_t i;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = -ENODEV;
		if (hooks[i].tp)
			err = tracepoint_probe_register(hooks[i].tp, hooks[i].probe, NULL);
		if (err)
			break;
	}
	if (err)
		unregister(i);
	return err;
}

/**
 * pxt_process_exit() - nothing of this runs any more when it returns
 */
void pxt_process_exit(void)
{
	unregister(ARRAY_SIZE(hooks));
}
