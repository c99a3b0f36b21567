// SPDX-License-Identifier: GPL-2.0
/*
 * The uncommon cases of recording kernel events: another sub-buffer, no room, deferred work.
 * recorder.h has the common path.
 */
#include <linux/irq_work.h>
#include <linux/string.h>

#include "ring/recorder.h"
#include "ring/subbuf.h"

/**
 * pxt_recorder_drop() - count an event that cannot be recorded
 * @pool: of a stream with a recorder
 * @cpu: this CPU; its recorder is locked
 * @class: number of the class of the event
 */
void pxt_recorder_drop(struct pxt_pool *pool, u32 cpu, u32 class)
{
	struct posixtrace_cpu_head *head = &pool->kernel_heads[cpu];

	pool->recorder->cpu[cpu].dropped[class]++;
	/* The reader and GET_STATUS read it without the lock. */
	WRITE_ONCE(head->lost, head->lost + 1);
}

/**
 * pxt_recorder_turn() - open another sub-buffer, which has room for any record
 * @pool: of a stream with a recorder
 * @cpu: this CPU; its recorder is locked, and has no open sub-buffer afterwards if there is none
 *
 * Context: interrupts are off; scheduler locks may be held.
 * Return: bits PXT_RECORDER_*: deferred work.
 */
unsigned long pxt_recorder_turn(struct pxt_pool *pool, u32 cpu)
{
	struct pxt_recorder_cpu *this_cpu = &pool->recorder->cpu[cpu];
	u32 writer = pxt_pool_kernel_writer(pool, cpu);
	int err;

	pxt_recorder_leave(this_cpu);
	err = pxt_subbuf_next_kernel(pool, writer);
	if (err)
		return err == -ENOBUFS ? BIT(PXT_RECORDER_FULL) : 0;
	this_cpu->mem = pxt_pool_subbuf(pool, pool->cpu[writer].open);
	this_cpu->end = this_cpu->mem + pool->subbuf_size / sizeof(*this_cpu->mem);
	this_cpu->time_end = 0;
	memset(this_cpu->thread, 0xff, sizeof(this_cpu->thread));
	return pool->recorder->reports ? BIT(PXT_RECORDER_CLOSED) : 0;
}

/**
 * pxt_recorder_defer() - queue work that a tracepoint must not do
 * @pool: of a stream with a recorder
 * @todo: bits PXT_RECORDER_*
 *
 * Context: the recorder of this CPU is still locked: once no event is wanted, a synchronization
 * ends the queueing.
 */
void pxt_recorder_defer(const struct pxt_pool *pool, unsigned long todo)
{
	struct pxt_recorder *recorder = pool->recorder;

	atomic_long_or(todo, recorder->todo);
	/* Orders both: the work sees the bits set before. */
	irq_work_queue(recorder->irq);
}
