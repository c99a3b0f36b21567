// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a log: marks of blocks, so that a reader can find a time without reading the headers
 * of all blocks. Its memory is bounded, however long the log becomes. logblock.c writes it at the
 * end.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "log/logindex.h"

/**
 * pxt_logindex_init() - allocate an index
 * @index: to be initialized
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_logindex_init(struct pxt_logindex *index)
{
	memset(index, 0, sizeof(*index));
	index->stride = 1;
	index->mark = kvmalloc_array(PXT_LOG_MARKS + 1, sizeof(*index->mark),
				     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return index->mark ? 0 : -ENOMEM;
}

/**
 * pxt_logindex_destroy() - undo pxt_logindex_init()
 * @index: may be destroyed twice, or zero
 */
void pxt_logindex_destroy(struct pxt_logindex *index)
{
	kvfree(index->mark);
	index->mark = NULL;
}

/**
 * pxt_logindex_clear() - forget all blocks
 * @index: initialized
 */
void pxt_logindex_clear(struct pxt_logindex *index)
{
	index->newest.seq = 0;
	index->epoch = 0;
	index->count = 0;
	index->stride = 1;
	index->passed = 0;
	index->written = 0;
	index->blocks = 0;
	index->size = 0;
}

/* Keep every second mark. */
static void thin_out(struct pxt_logindex *index)
{
	u32 i;

	for (i = 0; i < PXT_LOG_MARKS / 2; i++)
		index->mark[i] = index->mark[2 * i];
	index->count = i;
	index->stride *= 2;
	index->passed = 0;
}

/* Forget the marks of blocks that are overwritten. */
static void forget_before(struct pxt_logindex *index, u64 oldest)
{
	u32 n = 0;

	while (n < index->count && index->mark[n].seq < oldest)
		n++;
	index->count -= n;
	memmove(index->mark, index->mark + n, index->count * sizeof(*index->mark));
}

/**
 * pxt_logindex_add() - note a block of events that is in the log now
 * @index: initialized
 * @block: its header
 * @offset: its offset
 * @nr_cpus: the CPU number of system events
 * @oldest: number of the oldest block in the log
 *
 * Called in the order of the blocks. The first block of an epoch gets a mark. Blocks of system
 * events get no mark: readers report a gap only before the next user or kernel event.
 */
void pxt_logindex_add(struct pxt_logindex *index, const struct posixtrace_log_block *block,
		      u64 offset, u32 nr_cpus, u64 oldest)
{
	index->newest = (struct posixtrace_log_mark){
		.offset = offset,
		.seq = block->seq,
		.epoch = block->epoch,
		.closed = block->closed,
	};
	if (block->cpu >= nr_cpus || !block->size ||
	    (index->passed && block->epoch == index->epoch))
		return;
	index->epoch = block->epoch;
	if (index->count >= PXT_LOG_MARKS)
		forget_before(index, oldest);
	if (index->count >= PXT_LOG_MARKS)
		thin_out(index);
	if (index->passed++ % index->stride == 0)
		index->mark[index->count++] = index->newest;
}

/**
 * pxt_logindex_finish() - prepare the index for being written
 * @index: initialized; may be finished again
 * @oldest: number of the oldest block in the log
 *
 * Return: true if there is anything left to write.
 */
bool pxt_logindex_finish(struct pxt_logindex *index, u64 oldest)
{
	if (!index->written) {
		forget_before(index, oldest);
		if (index->count < PXT_LOG_MARKS_MIN)
			return false;
		if (index->mark[index->count - 1].seq != index->newest.seq)
			index->mark[index->count++] = index->newest;
	}
	return index->written < index->count;
}
