// SPDX-License-Identifier: GPL-2.0
/*
 * Hears of CPUs that go offline and come back, and tells the streams. What becomes
 * of their sub-buffers is in subbuf.c.
 *
 * No writer is left in the sub-buffer of a CPU that is offline, and none is between
 * its look at the head and its commit: the scheduler has moved all tasks away, so a
 * restartable sequence was preempted and begins anew elsewhere, and kernel code with
 * interrupts off has turned them on. What they wrote there before can be seen here:
 * stop_machine() and the wait for the CPU's last step lie between.
 */
#include <linux/cpuhotplug.h>

#include "hooks.h"
#include "ring/subbuf.h"
#include "stream/stream.h"

/* Handed out for us by the kernel. */
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
 * Both run on another CPU, which changes the state of this one, and may sleep: the
 * first before it runs anything (also if it then fails to come up, which ends with
 * the second), the second after it has run its last.
 *
 * A stream that is not in the list yet, or not any more, has nothing on this CPU:
 * nobody records into it before it is listed, and it is dead when it is not.
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
 * pxt_hotplug_init() - from now on CPUs that go offline keep nothing from others
 *
 * Context: may sleep. Return: 0; -ENOSPC if too many modules want to know; -ENOMEM.
 */
int pxt_hotplug_init(void)
{
	/* There are no streams, so it does not matter who is online now. */
	int ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "posixtrace:prepare",
					    prepare_cpu, dead_cpu);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	return 0;
}

/**
 * pxt_hotplug_exit() - nothing of this runs any more when it returns
 *
 * Context: may sleep.
 */
void pxt_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}
