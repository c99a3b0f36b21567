// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks CPUs that go offline and come back, for all streams. Their sub-buffers are handled in
 * ring/subbuf.c.
 *
 * On an offline CPU no writer is between reading the head and its commit: the scheduler has moved
 * all tasks away, so a restartable sequence was preempted and restarts elsewhere, and kernel code
 * has left its sections with interrupts off. Earlier stores of the CPU are visible here: they are
 * ordered by stop_machine() and the wait for the CPU's last step.
 */
#include <linux/cpuhotplug.h>

#include "ring/subbuf.h"
#include "stream/stream.h"
#include "task/hotplug.h"

/* Allocated by the kernel. */
static enum cpuhp_state hotplug_state;

static void leave(struct pxt_stream *stream, void *cpu)
{
	pxt_subbuf_leave(&stream->pool, *(unsigned int *)cpu);
}

static void come_back(struct pxt_stream *stream, void *cpu)
{
	pxt_subbuf_return(&stream->pool, *(unsigned int *)cpu);
}

/*
 * Both run on another CPU and may sleep: prepare_cpu() before the CPU runs anything, dead_cpu()
 * after it has stopped or failed to come up.
 *
 * A stream outside the list has no sub-buffer on this CPU: no process records into it before it is
 * listed, and it is dead once it has left the list.
 */
static int prepare_cpu(unsigned int cpu)
{
	pxt_stream_for_each(come_back, &cpu);
	return 0;
}

static int dead_cpu(unsigned int cpu)
{
	pxt_stream_for_each(leave, &cpu);
	return 0;
}

/**
 * pxt_hotplug_init() - start to track CPUs that go offline and come back
 *
 * Context: may sleep. Return: 0; -ENOSPC if the kernel has no free hotplug state; -ENOMEM.
 */
int pxt_hotplug_init(void)
{
	/* There are no streams, so CPUs already online need no call. */
	int ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "posixtrace:prepare",
					    prepare_cpu, dead_cpu);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

/**
 * pxt_hotplug_exit() - stop tracking CPUs
 *
 * Context: may sleep.
 */
void pxt_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}
