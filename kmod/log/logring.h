/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGRING_H
#define PXT_LOGRING_H

#include <linux/types.h>

/* Maximum number of runs that describe a ring. If there are more, neighbours are merged. */
#define PXT_LOG_RUNS	1024

/**
 * struct pxt_log_run - consecutive blocks in the ring of a LOOP log
 * @start: offset of the first block
 * @seq: number of the first block
 * @events: user events in them
 */
struct pxt_log_run {
	u64 start;
	u64 seq;
	u64 events;
};

/**
 * struct pxt_logring - the blocks in the ring of a LOOP log
 *
 * Used by one task at a time.
 */
struct pxt_logring {
	/** @run: the contents of the ring, oldest first, as a queue; NULL for other policies */
	struct pxt_log_run *run;
	/** @overwritten: user events that were overwritten */
	u64 overwritten;
	/** @first: index of the first run in @run */
	u32 first;
	/** @runs: number of runs in @run */
	u32 runs;
	/** @run_blocks: blocks in a full run */
	u32 run_blocks;
	/** @last_blocks: blocks in the last run */
	u32 last_blocks;
};

int pxt_logring_init(struct pxt_logring *ring);
void pxt_logring_destroy(struct pxt_logring *ring);
void pxt_logring_clear(struct pxt_logring *ring);
const struct pxt_log_run *pxt_logring_oldest(const struct pxt_logring *ring);
u64 pxt_logring_make_room(struct pxt_logring *ring, u64 pos, u64 size, u64 ring_size);
void pxt_logring_add(struct pxt_logring *ring, u64 start, u64 seq, u64 events);

#endif /* PXT_LOGRING_H */
