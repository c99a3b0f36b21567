// SPDX-License-Identifier: GPL-2.0
/*
 * The uncommon cases of recording kernel events: another sub-buffer, no room, deferred work.
 * recorder.h has the common path.
 */
#include <linux/irq_work.h>
#include <linux/string.h>

#include "ring/recorder.h"
#include "ring/subbuf.h"

/* Open another sub-buffer. Returns 0, or a negative error number if the event is lost. */
static int turn(struct pxt_pool *pool, u32 cpu, struct pxt_recorder_cpu *this_cpu,
		unsigned long *todo)
{
	u32 writer = pxt_pool_kernel_writer(pool, cpu);
	int err;

	if (READ_ONCE(pool->any_full))
		return -ENOSPC;
	pxt_recorder_leave(this_cpu);
	err = pxt_subbuf_next_kernel(pool, writer);
	if (err == -ENOBUFS)
		*todo |= BIT(PXT_RECORDER_FULL);
	if (err)
		return err;
	this_cpu->mem = pxt_pool_subbuf(pool, pool->cpu[writer].open);
	this_cpu->end = this_cpu->mem + pool->subbuf_size / sizeof(*this_cpu->mem);
	this_cpu->time_end = 0;
	memset(this_cpu->thread, 0xff, sizeof(this_cpu->thread));
	if (pool->recorder->reports)
		*todo |= BIT(PXT_RECORDER_CLOSED);
	return 0;
}

/**
 * pxt_recorder_turn() - open another sub-buffer, which has room for any record
 * @pool: memory of a stream with a recorder; the recorder of this CPU is locked
 * @class: number of the class of the event that needs it
 *
 * If there is none, the event counts as dropped.
 *
 * Context: interrupts are off; scheduler locks may be held.
 * Return: false if the event was dropped.
 */
bool pxt_recorder_turn(struct pxt_pool *pool, u32 class)
{
	u32 cpu = smp_processor_id();
	struct pxt_recorder_cpu *this_cpu = &pool->recorder->cpu[cpu];
	struct posixtrace_cpu_head *head = &pool->kernel_heads[cpu];
	unsigned long todo = 0;
	int err = turn(pool, cpu, this_cpu, &todo);

	if (err)
		pxt_recorder_drop(this_cpu, head, class);
	if (todo)
		pxt_recorder_defer(pool, todo);
	return !err;
}

/**
 * pxt_recorder_defer() - queue work that a tracepoint must not do
 * @pool: memory of a stream with a recorder
 * @todo: bits PXT_RECORDER_*
 *
 * Context: the recorder of this CPU is still locked. pxt_recorder_synchronize() waits for that
 * lock, so if no event is wanted, no work is queued after it.
 */
void pxt_recorder_defer(const struct pxt_pool *pool, unsigned long todo)
{
	struct pxt_recorder *recorder = pool->recorder;

	atomic_long_or(todo, recorder->todo);
	/* irq_work_queue() is ordered after the bits are set, so the work sees them. */
	irq_work_queue(recorder->irq);
}
