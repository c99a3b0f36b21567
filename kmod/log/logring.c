// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks the blocks in the ring of a LOOP log, to tell how many user events the next block
 * overwrites, and which block is the oldest afterwards. logblock.c writes the blocks.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "log/logring.h"

/**
 * pxt_logring_init() - allocate the runs of an empty ring
 * @ring: to be initialized
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_logring_init(struct pxt_logring *ring)
{
	*ring = (struct pxt_logring){ .run_blocks = 1 };
	ring->run = kvcalloc(PXT_LOG_RUNS, sizeof(*ring->run), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return ring->run ? 0 : -ENOMEM;
}

/**
 * pxt_logring_destroy() - undo pxt_logring_init()
 * @ring: may be destroyed twice, or zero
 */
void pxt_logring_destroy(struct pxt_logring *ring)
{
	kvfree(ring->run);
	ring->run = NULL;
}

/**
 * pxt_logring_clear() - forget all blocks
 * @ring: initialized, or zero
 */
void pxt_logring_clear(struct pxt_logring *ring)
{
	ring->runs = 0;
	ring->overwritten = 0;
}

static struct pxt_log_run *run_at(const struct pxt_logring *ring, u32 i)
{
	return &ring->run[(ring->first + i) % PXT_LOG_RUNS];
}

/**
 * pxt_logring_oldest() - get the oldest blocks in the ring
 * @ring: initialized, or zero
 *
 * Return: their run; NULL if there is none.
 */
const struct pxt_log_run *pxt_logring_oldest(const struct pxt_logring *ring)
{
	return ring->runs ? run_at(ring, 0) : NULL;
}

static void forget_oldest(struct pxt_logring *ring)
{
	ring->overwritten += run_at(ring, 0)->events;
	ring->first = (ring->first + 1) % PXT_LOG_RUNS;
	ring->runs--;
}

/* Merge pairs of neighbours to make room for more runs. */
static void merge_runs(struct pxt_logring *ring)
{
	struct pxt_log_run run;
	u32 i = 0, kept = 0;

	while (i < ring->runs) {
		run = *run_at(ring, i++);
		/* Runs on both sides of the end of the ring are not neighbours. */
		if (i < ring->runs && run_at(ring, i)->start > run.start)
			run.events += run_at(ring, i++)->events;
		*run_at(ring, kept++) = run;
	}
	ring->runs = kept;
	ring->run_blocks *= 2;
	ring->last_blocks = ring->run_blocks;
}

/**
 * pxt_logring_make_room() - forget the blocks that the next one overwrites
 * @ring: initialized
 * @pos: offset after the newest block, from the start of the ring
 * @size: bytes of the next block
 * @ring_size: bytes of the ring
 *
 * Return: the offset of the next block.
 */
u64 pxt_logring_make_room(struct pxt_logring *ring, u64 pos, u64 size, u64 ring_size)
{
	if (pos + size > ring_size) {
		while (ring->runs && run_at(ring, 0)->start >= pos)
			forget_oldest(ring);
		pos = 0;
	}
	while (ring->runs && run_at(ring, 0)->start >= pos && run_at(ring, 0)->start < pos + size)
		forget_oldest(ring);
	return pos;
}

/**
 * pxt_logring_add() - note a block that is in the ring now
 * @ring: initialized
 * @start: from pxt_logring_make_room()
 * @seq: its number
 * @events: user events in it
 */
void pxt_logring_add(struct pxt_logring *ring, u64 start, u64 seq, u64 events)
{
	if (ring->runs && ring->last_blocks < ring->run_blocks && start) {
		run_at(ring, ring->runs - 1)->events += events;
		ring->last_blocks++;
		return;
	}
	if (ring->runs == PXT_LOG_RUNS)
		merge_runs(ring);
	*run_at(ring, ring->runs) = (struct pxt_log_run){
		.start = start,
		.seq = seq,
		.events = events,
	};
	ring->runs++;
	ring->last_blocks = 1;
}
