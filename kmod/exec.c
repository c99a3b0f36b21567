// SPDX-License-Identifier: GPL-2.0
/*
 * Hears of programs that processes execute, from the tracepoint of the
 * scheduler. It is not exported by name, but can be looked up.
 */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "exec.h"
#include "stream.h"

struct linux_binprm;

static struct tracepoint *pxt_exec_tracepoint;

/* As TP_PROTO of sched_process_exec says. */
static void process_exec(void *data, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *bprm)
{
	pxt_stream_exec();
}

static void find_tracepoint(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "sched_process_exec"))
		*(struct tracepoint **)found = tp;
}

/**
 * pxt_exec_init() - from now on a controller that execs loses its streams
 *
 * Return: 0; -ENODEV if this kernel has no such tracepoint; -ENOMEM.
 */
int pxt_exec_init(void)
{
	for_each_kernel_tracepoint(find_tracepoint, &pxt_exec_tracepoint);
	if (!pxt_exec_tracepoint)
		return -ENODEV;
	return tracepoint_probe_register(pxt_exec_tracepoint, process_exec, NULL);
}

/**
 * pxt_exec_exit() - nothing of this runs any more when it returns
 */
void pxt_exec_exit(void)
{
	tracepoint_probe_unregister(pxt_exec_tracepoint, process_exec, NULL);
	tracepoint_synchronize_unregister();
}
